"""The command line: `sessionmill-spark --out s3://warehouse/sessions s3://logs`, or through `spark-submit`."""

from __future__ import annotations

import argparse
import json
import os
import socket
import sys

from . import __version__
from .job import Options, run
from .lake import Lake
from .listing import machines
from .mill import Mill, Sink, find_program, packed


def size(text: str) -> int:
    """`128M`, `4G` or bytes."""
    units = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
    unit = units.get(text[-1:].upper())
    try:
        return int(text[:-1]) * unit if unit else int(text)
    except ValueError:
        raise argparse.ArgumentTypeError("write a size like 128M") from None


def parser() -> argparse.ArgumentParser:
    words = argparse.ArgumentParser(
        prog="sessionmill-spark",
        description="Turn session logs of coding agents into Parquet tables, on Apache Spark (docs/engine.md).",
    )
    words.add_argument("logs", nargs="+", metavar="PREFIX", help="folders or s3:// prefixes with logs")
    words.add_argument("--out", required=True, metavar="PREFIX", help="where tables and state are kept")
    words.add_argument("--machines", metavar="FILE", help="JSON: prefixes, and the machine and home of each")
    words.add_argument("--places", metavar="FILE", help="JSON: folders, and the projects that they belong to")
    words.add_argument("--settings", metavar="DIR", help="settings, rules and redact.key, as in ~/.graphiti")
    words.add_argument("--host", help="machine of logs that --machines doesn't name [default: this one]")
    words.add_argument("--program", metavar="FILE", help="sessionmill on this machine [default: from PATH]")
    words.add_argument("--installed", action="store_true", help="executors have --program at the same path")
    words.add_argument("--partition-bytes", type=size, default=128 << 20, metavar="SIZE", help="[default: 128M]")
    words.add_argument("--split-bytes", type=size, default=4 << 30, metavar="SIZE", help="[default: 4G]")
    words.add_argument("--partitions", type=int, metavar="N", help="of the shuffle [default: one per core]")
    words.add_argument("--buckets", type=int, default=16, metavar="N", help="files per table and month [default: 16]")
    words.add_argument("--deliver", metavar="SINK", help="deliver to this sink of --settings (falkordb, neo4j)")
    words.add_argument("--confirm", action="append", default=[], metavar="TEXT", help="consent to sending, word for word")
    words.add_argument("--deliver-parallel", type=int, default=4, metavar="N", help="tasks at once [default: 4]")
    words.add_argument("--now", metavar="TIME", help="use this as the current time (RFC 3339)")
    words.add_argument("--json", action="store_true", help="print one JSON document")
    words.add_argument("--version", action="version", version=__version__)
    return words


def options(args: argparse.Namespace) -> Options:
    """What a run is told by a command line."""
    host = args.host or socket.gethostname().split(".")[0]
    known = {}
    if args.machines:
        with open(args.machines, encoding="utf-8") as file:
            known = json.load(file)
    places = None
    if args.places:
        with open(args.places, encoding="utf-8") as file:
            places = file.read()
        json.loads(places)
    program = os.path.abspath(args.program) if args.installed and args.program else find_program(args.program)
    mill = Mill(
        program=program,
        host=host,
        now=args.now,
        settings=packed(args.settings),
        places=places,
        shipped=not args.installed,
    )
    return Options(
        lake=Lake(args.out.rstrip("/") if "://" in args.out else os.path.abspath(args.out)),
        machines=machines([p if "://" in p else os.path.abspath(p) for p in args.logs], known, host),
        mill=mill,
        partition_bytes=args.partition_bytes,
        split_bytes=args.split_bytes,
        partitions=args.partitions,
        buckets=args.buckets,
        sink=Sink(args.deliver, tuple(args.confirm), args.deliver_parallel) if args.deliver else None,
    )


def session():
    """The session of `spark-submit`, or one on this machine."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName("sessionmill")
    # what is shuffled are lines of some kilobytes: batches of Arrow stay small
    builder = builder.config("spark.sql.execution.arrow.maxRecordsPerBatch", "500")
    return builder.getOrCreate()


def main(argv: list[str] | None = None) -> int:
    args = parser().parse_args(argv)
    told = options(args)
    spark = session()
    if told.mill.shipped:
        spark.sparkContext.addFile(told.mill.program)
    done = run(spark, told)
    if args.json:
        print(json.dumps(done, indent=1))
    elif done["runs"] == 0:
        print("nothing is new")
    else:
        print(
            f"read {done['files']} logs, {done['bytes'] / 1e6:.1f} MB;"
            f" wrote {done['rows']} rows of {done['components']} components"
        )
    for problem in done["problems"]:
        print(f"warning: {problem}", file=sys.stderr)
    return 3 if done["problems"] else 0


if __name__ == "__main__":
    sys.exit(main())
