"""The whole: list, look at heads, plan, transform in executors, shuffle, write tables. In three phases.

The manifest says which phase of which run is done. Whatever is killed, in a phase or between two, is gone on with by
the next call; what a task wrote is not done again. Attempts of one task write the same file, as a whole.
"""

from __future__ import annotations

import json
import shutil
import sys
import time
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from .lake import Lake
from .listing import SCHEMA as LISTED
from .listing import Machine, listing
from .mill import LINES, Mill, Sink, TableMaker, gathered, request, scratch
from .planning import FILES, bucket_of, compare, joined, name_hash, part_name, plan, rows_of, use_little_memory
from .tables import bucket_of_file, write_bucket

MANIFEST = "state/manifest.json"
VERSION = 1
HEADS = pa.schema([("key", pa.string()), ("group", pa.uint64()), ("ties", pa.list_(pa.uint64()))])
# Files that one task looks at the heads of.
LOOKS = 2_000


@dataclass
class Options:
    """What a run is told."""

    lake: Lake
    machines: list[Machine]
    mill: Mill
    # bytes of logs that a task reads
    partition_bytes: int = 128 << 20
    # a family with more is read in several tasks
    split_bytes: int = 4 << 30
    # partitions of the shuffle; None: one per core
    partitions: int | None = None
    # files per table and month; the first run decides
    buckets: int = 16
    # where episodes are delivered to; None: nowhere
    sink: Sink | None = None


def run(spark, options: Options) -> dict:
    """One run: goes on with one that was not finished, then reads what is new."""
    use_little_memory()
    done: dict = {"runs": 0, "files": 0, "bytes": 0, "rows": 0, "components": 0, "problems": []}
    manifest = options.lake.read_json(MANIFEST) or new_manifest(options)
    manifest.setdefault("undelivered", [])
    manifest.setdefault("young", [])
    if manifest["version"] != VERSION:
        raise SystemExit(
            f"sessionmill-spark: {options.lake.uri}: is of version {manifest['version']}, this program knows {VERSION}"
        )
    if manifest["phase"] != "done":
        _finish(spark, options, manifest, done)
        manifest = options.lake.read_json(MANIFEST)
    if (planned := _plan(spark, options, manifest)) is not None:
        _finish(spark, options, planned, done)
    elif rested := _rested(options, manifest):
        _finish(spark, options, {**manifest, "phase": "tables", "rested": rested}, done)
    elif options.sink and (manifest["undelivered"] or options.sink.name != manifest.get("sink")):
        files = options.lake.read_table(_files_name(manifest["run"])).cast(FILES)
        options.lake.write_json(MANIFEST, _delivered(spark, options, files, manifest, done))
    return done


def new_manifest(options: Options) -> dict:
    """Of a lake that no run has written to."""
    empty = {"dropped": [], "undelivered": [], "young": []}
    return {"version": VERSION, "run": 0, "phase": "done", "buckets": options.buckets, **empty}


def _files_name(run_number: int) -> str:
    return f"state/files-{run_number:06d}.parquet"


def _plan_name(run_number: int) -> str:
    return f"state/plan-{run_number:06d}.parquet"


def _plan(spark, options: Options, manifest: dict) -> dict | None:
    """Writes down what the next run does; `None`: there is no news."""
    lake, number = options.lake, manifest["run"] + 1
    known = FILES.empty_table()
    if manifest["run"]:
        known = lake.read_table(_files_name(manifest["run"])).cast(FILES)
    listed = listing(options.machines)
    news = compare(listed, known)
    if news.new.num_rows + len(news.known_rows) == 0:
        return None
    look = news.new
    if len(news.listed_rows):
        look = pa.concat_tables([look, listed.take(pa.array(news.listed_rows))])
    heads = _heads(spark, options, look, number)
    files = joined(news, listed, known, heads)
    del listed, news, known, look, heads
    files, dropped = plan(files, options.partition_bytes, options.split_bytes, number)
    if not pc.any(pc.greater_equal(files["task"], 0)).as_py():
        # what is new is no log: it is known from now on
        manifest = {**manifest, "run": number}
        lake.write_table(_files_name(number), files)
        lake.write_json(MANIFEST, manifest)
        return None
    lake.write_table(_files_name(number), files)
    tasks = files.filter(pc.greater_equal(files["task"], 0)).sort_by([("task", "ascending"), ("key", "ascending")])
    lake.write_table(_plan_name(number), tasks, row_group_size=4_000)
    rested = _rested(options, manifest)
    manifest = {**manifest, "run": number, "phase": "transform", "dropped": dropped, "rested": rested}
    lake.write_json(MANIFEST, manifest)
    return manifest


def _heads(spark, options: Options, look: pa.Table, number: int) -> pa.Table:
    """What heads say. Written by the executors, read by the driver as arrays."""
    lake, mill, folder = options.lake, options.mill, f"state/heads/run-{number:06d}"
    lake.delete_folder(folder)
    name = f"{folder}/look.parquet"
    lake.write_table(name, look, row_group_size=LOOKS)
    count = -(-look.num_rows // LOOKS)
    # as many tasks as there are cores, where there are files enough
    spark.sparkContext.parallelize(range(count), count).foreach(lambda nth: look_at(lake, mill, folder, name, nth))
    tables = [lake.read_table(f"{folder}/heads-{nth:06d}.parquet") for nth in range(count)]
    lake.delete_folder(folder)
    return pa.concat_tables(tables)


def look_at(lake: Lake, mill: Mill, folder: str, name: str, nth: int) -> None:
    """A task: looks at some heads."""
    rows = lake.parquet(name).read_row_group(nth).to_pylist()
    heads = {"key": [], "group": [], "ties": []}
    hosts = {row["key"]: row["host"] for row in rows}
    with scratch("heads") as place:
        from pathlib import Path

        asked = [request(row, Path(place), head=True) for row in rows]
        for head in mill.told(asked, "heads", Path(place)):
            if head["type"] == "head":
                heads["key"].append(head["file"])
                heads["group"].append(name_hash(f"{hosts[head['file']]}\0{head['namespace']}"))
                heads["ties"].append([name_hash(tie) for tie in head["ties"]])
            elif head["type"] == "problem" and not head["left_out"]:
                print(f"sessionmill-spark: {head['file']}: {head['reason']}", file=sys.stderr)
            elif head["type"] == "problem":
                # known from now on, and read by nobody
                heads["key"].append(head["file"])
                heads["group"].append(name_hash(head["file"]))
                heads["ties"].append(None)
    lake.write_table(f"{folder}/heads-{nth:06d}.parquet", pa.table(heads, schema=HEADS))


def _finish(spark, options: Options, manifest: dict, done: dict) -> None:
    """The phases that a run still has to do."""
    lake, number = options.lake, manifest["run"]
    files = lake.read_table(_files_name(number)).cast(FILES)
    started = time.monotonic()
    if manifest["phase"] == "transform":
        for stats in _transform(spark, options, files, number):
            done["files"] += stats["files"]
            done["bytes"] += stats["bytes"]
            done["problems"] += stats["problems"]
        manifest = {**manifest, "phase": "tables"}
        lake.write_json(MANIFEST, manifest)
    done["transform_seconds"] = done.get("transform_seconds", 0) + time.monotonic() - started
    started = time.monotonic()
    if manifest["phase"] == "tables":
        dirty = _dirty(files, manifest)
        for stats in _tables(spark, options, files, manifest, dirty):
            done["rows"] += stats["rows"]
            done["components"] += stats["components"]
            done["shuffled"] = done.get("shuffled", 0) + stats["bytes"]
        due = sorted({*manifest["undelivered"], *dirty.to_pylist()} - {*manifest["dropped"]})
        before = {*manifest["young"]} - {*dirty.to_pylist()} - {*manifest["dropped"]}
        young = sorted(before | _young(files, dirty, options.mill))
        manifest = {**manifest, "phase": "deliver", "dropped": [], "rested": [], "young": young}
        manifest["undelivered"] = due if options.sink else []
        lake.write_json(MANIFEST, manifest)
    done["tables_seconds"] = done.get("tables_seconds", 0) + time.monotonic() - started
    manifest = _delivered(spark, options, files, manifest, done)
    lake.write_json(MANIFEST, {**manifest, "phase": "done"})
    lake.delete(_plan_name(number))
    for name in lake.names("state"):
        if name.startswith("state/files-") and name != _files_name(number):
            lake.delete(name)
    done["runs"] += 1


def _transform(spark, options: Options, files: pa.Table, number: int) -> list[dict]:
    tasks = [task for task in pc.unique(files["task"]).to_pylist() if task >= 0]
    if not tasks:
        return []
    _divide(spark, options, files, number)
    lake, mill = options.lake, options.mill
    work = spark.sparkContext.parallelize(sorted(tasks), len(tasks))
    return work.map(lambda task: transform_task(lake, mill, number, task)).collect()


def _ids_name(number: int, family: int) -> str:
    return f"state/ids/run-{number:06d}/family-{family:06d}"


def _divide(spark, options: Options, files: pa.Table, number: int) -> None:
    """Of families that several tasks read: says which file owns each record. That is a shuffle by record id.

    Afterwards `taken-…` has, for each file, the records that another one owns, and `order-…` how they are read.
    """
    lake, mill = options.lake, options.mill
    split = files.filter(pc.greater_equal(files["split"], 0))
    families = [family for family in pc.unique(split["split"]).to_pylist()]
    for family in families:
        name = _ids_name(number, family)
        if lake.exists(f"{name}/taken.parquet"):
            continue
        members = split.filter(pc.equal(split["split"], family)).select(LISTED.names)
        lake.write_table(f"{name}/members.parquet", members)
        ordered = spark.sparkContext.parallelize([name], 1).map(lambda name: order_task(lake, mill, name)).collect()[0]
        pairs = spark.createDataFrame(pa.table({"at": pa.array(range(members.num_rows), pa.int32())}))
        pairs = pairs.repartition(members.num_rows, "at").mapInArrow(
            lambda batches: ids_task(batches, lake, mill, name, ordered), "id long, file string, position int"
        )
        from pyspark.sql import functions as sql

        owners = pairs.groupBy("id").agg(sql.min("position").alias("owner"), sql.count("*").alias("copies"))
        owners = owners.filter("copies > 1")
        taken = pairs.join(owners, "id").filter("position > owner").select("file", "id", "owner").toArrow()
        order = pa.table({"key": ordered, "order": pa.array(range(len(ordered)), pa.int64())})
        lake.write_table(f"{name}/order.parquet", order)
        lake.write_table(f"{name}/taken.parquet", taken.sort_by("file"))


def order_task(lake: Lake, mill: Mill, name: str) -> list[str]:
    """A task: in which order the files of a family are read, as one process would."""
    from pathlib import Path

    rows = lake.read_table(f"{name}/members.parquet").to_pylist()
    with scratch("order") as place:
        asked = [request(row, Path(place)) for row in rows]
        heads = [head for head in mill.told(asked, "heads", Path(place)) if head["type"] == "head"]
    return [head["file"] for head in sorted(heads, key=lambda head: head["order"])]


def ids_task(batches_of_rows, lake: Lake, mill: Mill, name: str, ordered: list[str]):
    """A task: the records of some files of a family."""
    import base64
    from pathlib import Path

    positions = {key: position for position, key in enumerate(ordered)}
    members = lake.read_table(f"{name}/members.parquet")
    for batch in batches_of_rows:
        for at in batch.column("at").to_pylist():
            row = members.slice(at, 1).to_pylist()[0]
            with scratch("ids") as place:
                asked = [request(row, Path(place))]
                for told in mill.told(asked, "ids", Path(place)):
                    if told["type"] != "ids":
                        continue
                    # the lowest bit says that it is there twice
                    ids = np.frombuffer(base64.b64decode(told["ids"]), dtype="<u8") & ~np.uint64(1)
                    ids = np.unique(ids).view("<i8")
                    yield pa.record_batch(
                        {
                            "id": pa.array(ids),
                            "file": pa.array([row["key"]] * len(ids)),
                            "position": pa.array(np.full(len(ids), positions[row["key"]], dtype=np.int32)),
                        }
                    )


def transform_task(lake: Lake, mill: Mill, number: int, task: int) -> dict:
    """A task: reads files and writes their lines. Where an attempt before wrote them, nothing is left to do."""
    from pathlib import Path

    name = part_name(number, task)
    stats = {"files": 0, "bytes": 0, "seconds": 0.0, "problems": []}
    if lake.exists(name):
        return stats
    rows = lake.read_table(_plan_name(number), filters=[("task", "=", task)]).to_pylist()
    started = time.monotonic()

    def counted(batches):
        for batch in batches:
            for line in of_kind(batch, "tally"):
                stats["files"] += 1
                stats["bytes"] += line["tally"]["read_bytes"]
            for line in of_kind(batch, "problem"):
                if not line["left_out"]:
                    stats["problems"].append(f"{line['file']}: {line['reason']}")
            yield batch

    def of_kind(batch, kind):
        return map(json.loads, batch.filter(pc.equal(batch["kind"], kind))["line"].to_pylist())

    with scratch("transform") as place:
        asked = list(_requests(lake, rows, name, number, Path(place)))
        with lake.writing(name) as stream, pq.ParquetWriter(stream, LINES, compression="zstd") as writer:
            for rows in gathered(counted(mill.lines(asked, number, Path(place)))):
                writer.write_table(rows)
    stats["seconds"] = time.monotonic() - started
    return stats


def _requests(lake: Lake, rows: list[dict], own: str, number: int, place):
    """A task's files as the program is asked for them, with what is known of them and their relatives."""
    known = _known(lake, rows, own)
    divided = {row["split"] for row in rows if row["split"] >= 0}
    order, taken = {}, {}
    for family in divided:
        name = _ids_name(number, family)
        table = lake.read_table(f"{name}/order.parquet")
        order.update(zip(table["key"].to_pylist(), table["order"].to_pylist(), strict=True))
        keys = [row["key"] for row in rows]
        table = lake.read_table(f"{name}/taken.parquet", filters=[("file", "in", keys)])
        # what a file of this very task owns, the program finds out
        here = pa.array([order[key] for key in keys if key in order], table.schema.field("owner").type)
        table = table.filter(pc.invert(pc.is_in(table["owner"], here)))
        for key in keys:
            ids = table.filter(pc.equal(table["file"], key))["id"]
            taken[key] = np.asarray(ids).astype("<i8").tobytes()
    for row in rows:
        is_read = own in row["parts"]
        asked = request(row, place) if is_read else {"key": row["key"], "host": row["host"]}
        if row["key"] in known:
            # it is JSON already
            asked["known"] = [json.loads(line) for line in known[row["key"]]]
        elif not is_read:
            continue
        if row["key"] in order:
            import base64

            asked["order"] = order[row["key"]]
            asked["taken"] = base64.b64encode(taken[row["key"]]).decode()
        yield asked


def _known(lake: Lake, rows: list[dict], own: str) -> dict[str, list[bytes]]:
    """The commits of files in earlier runs."""
    wanted: dict[str, set[str]] = {}
    for row in rows:
        for part in row["parts"]:
            if part != own:
                wanted.setdefault(part, set()).add(row["key"])
    known: dict[str, list[bytes]] = {}
    for part, keys in sorted(wanted.items()):
        filters = [("file", "in", keys), ("kind", "in", {"commit", "moved"})]
        table = lake.read_table(part, columns=["file", "line"], filters=filters)
        for key, line in zip(table["file"].to_pylist(), table["line"].to_pylist(), strict=True):
            known.setdefault(key, []).append(line)
    return known


def _young(files: pa.Table, components: pa.Array, mill: Mill) -> set[str]:
    """Components that are written to, or were yesterday: not all that they have rests yet."""
    newest = pa.table({"component": files["component"], "mtime_ns": files["mtime_ns"]})
    newest = newest.filter(pc.is_in(newest["component"], components)).group_by("component")
    newest = newest.aggregate([("mtime_ns", "max")])
    now = int((_now(mill) - SETTLES_SECONDS) * 1e9)
    return {*newest.filter(pc.greater(newest["mtime_ns_max"], now))["component"].to_pylist()}


def _rested(options: Options, manifest: dict) -> list[str]:
    """Components that were young when their rows were made, and aren't any more."""
    if not manifest["young"]:
        return []
    files = options.lake.read_table(_files_name(manifest["run"]), columns=["component", "mtime_ns"])
    return sorted({*manifest["young"]} - _young(files, pa.array(manifest["young"]), options.mill))


# Episodes settle within a day, whatever they wait for.
SETTLES_SECONDS = 25 * 3600


def _now(mill: Mill) -> float:
    from datetime import datetime

    return datetime.fromisoformat(mill.now).timestamp() if mill.now else time.time()


def _dirty(files: pa.Table, manifest: dict) -> pa.Array:
    """The components whose rows are made again: they have lines of this run, or rest only now."""
    own = f"state/lines/run-{manifest['run']:06d}/"
    read = files.filter(pc.greater_equal(files["task"], 0))
    has_news = np.fromiter((any(p.startswith(own) for p in parts) for parts in read["parts"].to_pylist()), bool)
    news = {*read.filter(pa.array(has_news, pa.bool_()))["component"].to_pylist()}
    held = {*manifest.get("rested", [])} & {*files["component"].to_pylist()}
    return pa.array(sorted(news | held), pa.string())


LINES_OF = "bucket int, component string, hash binary, line binary"


def _lines(spark, lake: Lake, files: pa.Table, components: pa.Array, buckets: int):
    """All lines of components, with where they belong."""
    chosen = files.filter(pc.is_in(files["component"], components))
    lists = chosen["parts"].combine_chunks()
    rows = pa.array(rows_of(lists)[0])
    parts = pa.table(
        {"part": pc.list_flatten(lists), "key": chosen["key"].take(rows), "component": chosen["component"].take(rows)}
    )
    parts = parts.group_by("part").aggregate([("key", "list"), ("component", "list")])
    lines = spark.createDataFrame(parts.rename_columns(["part", "keys", "components"]))
    return lines.repartition(max(parts.num_rows, 1)).mapInArrow(lambda some: read_parts(some, lake, buckets), LINES_OF)


def _once(lines, partitions: int):
    """One shuffle: what is equal meets where its bucket is."""
    lines = lines.repartition(partitions, "bucket").dropDuplicates(["bucket", "component", "hash"])
    return lines.sortWithinPartitions("bucket", "component")


def _tables(spark, options: Options, files: pa.Table, manifest: dict, dirty: pa.Array) -> list[dict]:
    """Shuffles the lines of what changed, each once, and writes the rows that come of them."""
    lake, mill, buckets, dropped = options.lake, options.mill, manifest["buckets"], manifest["dropped"]
    lines = _lines(spark, lake, files, dirty, buckets)
    if dropped:
        empty = [(bucket_of(name, buckets), name, bytearray(), None) for name in dropped]
        lines = lines.union(spark.createDataFrame(empty, LINES_OF))
    lines = _once(lines, options.partitions or spark.sparkContext.defaultParallelism)
    dirty_buckets = {bucket_of(name, buckets) for name in [*dirty.to_pylist(), *dropped]}
    held: dict[int, list[str]] = {}
    for name in lake.names("tables"):
        if (bucket := bucket_of_file(name)) in dirty_buckets:
            held.setdefault(bucket, []).append(name)
    written = lines.mapInArrow(
        lambda some: finish_buckets(some, lake, mill, held), "bucket int, components int, rows long, bytes long"
    )
    return [row.asDict() for row in written.collect()]


RECEIPTS = pa.schema(
    [(name, pa.string()) for name in ("component", "sink", "episode", "revision", "place", "state")]
)


def _delivered(spark, options: Options, files: pa.Table, manifest: dict, done: dict) -> dict:
    """The manifest after what is due was delivered. A sink that is new gets everything."""
    if options.sink and options.sink.name != manifest.get("sink"):
        all_components = files.filter(pc.greater(pc.list_value_length(files["parts"]), 0))["component"]
        manifest = {**manifest, "undelivered": sorted(pc.unique(all_components).to_pylist())}
    waits = _deliver(spark, options, files, manifest, done)
    return {**manifest, "undelivered": waits, "sink": options.sink.name if options.sink else manifest.get("sink")}


def _deliver(spark, options: Options, files: pa.Table, manifest: dict, done: dict) -> list[str]:
    """Delivers what changed; gives the components of which something still waits. Nothing where nobody asks."""
    due, sink, lake, mill = manifest["undelivered"], options.sink, options.lake, options.mill
    if sink is None or not due:
        return due if sink else []
    lines = _once(_lines(spark, lake, files, pa.array(due), manifest["buckets"]), sink.parallel)
    report = lines.mapInArrow(
        lambda some: deliver_buckets(some, lake, mill, sink), "component string, receipts int, waits string"
    ).collect()
    done["receipts"] = sum(row["receipts"] for row in report)
    done["problems"] += sorted({f"sink {sink.name}: {row['waits']}" for row in report if row["waits"]})
    return sorted({row["component"] for row in report if row["waits"]} | _young(files, pa.array(due), mill))


def deliver_buckets(some, lake: Lake, mill: Mill, sink: Sink):
    """A task: delivers the components of some buckets, and keeps their receipts in a table."""
    from itertools import groupby
    from pathlib import Path

    for bucket, components in groupby(_by_component(some), key=lambda pair: pair[0][0]):
        name = f"state/receipts/part-{bucket:04d}.parquet"
        held = lake.read_table(name).to_pylist() if lake.exists(name) else []
        for (_, component), lines in components:
            own = [{key: row[key] for key in RECEIPTS.names[1:]} for row in held if row["component"] == component]
            with scratch("deliver") as place:
                receipts, waits = mill.deliver((bytes(line) for line in lines), sink, own, Path(place))
            held = [row for row in held if row["component"] != component or row["sink"] != sink.name]
            held += [{"component": component, **receipt} for receipt in receipts]
            # after each: who is killed delivers only the next one again
            lake.write_table(name, pa.Table.from_pylist(held, schema=RECEIPTS))
            yield pa.record_batch(
                {
                    "component": pa.array([component]),
                    "receipts": pa.array([len(receipts)], pa.int32()),
                    "waits": pa.array([waits], pa.string()),
                }
            )


def read_parts(some, lake: Lake, buckets: int):
    """A task: the lines of files, with where they belong."""
    for batch in some:
        for row in batch.to_pylist():
            component = dict(zip(row["keys"], row["components"], strict=True))
            file = lake.parquet(row["part"])
            for lines in file.iter_batches(batch_size=512, columns=["file", "hash", "line"]):
                names = [component.get(key) for key in lines.column("file").to_pylist()]
                kept = pa.array([name is not None for name in names])
                mine = [name for name in names if name is not None]
                lines = lines.filter(kept)
                yield pa.record_batch(
                    {
                        "bucket": pa.array([bucket_of(name, buckets) for name in mine], pa.int32()),
                        "component": pa.array(mine, pa.string()),
                        "hash": lines.column("hash").cast(pa.binary()),
                        "line": lines.column("line"),
                    }
                )


def _by_component(some):
    """((bucket, component), lines) of sorted batches. All of the lines are taken before the next pair."""
    from itertools import groupby

    def rows():
        for batch in some:
            columns = (batch.column(name).to_pylist() for name in ("bucket", "component", "line"))
            yield from zip(*columns, strict=True)

    for place, group in groupby(rows(), key=lambda row: row[:2]):
        yield place, (line for _, _, line in group)


def finish_buckets(some, lake: Lake, mill: Mill, held: dict[int, list[str]]):
    """A task: rows of components, put together by bucket."""
    from itertools import chain, groupby
    from pathlib import Path

    with scratch("tables") as place, TableMaker(mill, Path(place)) as maker:
        for bucket, components in groupby(_by_component(some), key=lambda pair: pair[0][0]):
            folders: dict[str, Path] = {}
            dropped: set[str] = set()
            seen = [0]

            def counted(lines, seen=seen):
                for line in lines:
                    if line is not None:
                        seen[0] += len(line)
                        yield bytes(line)

            for nth, ((_, component), lines) in enumerate(components):
                lines = counted(lines)
                if (first := next(lines, None)) is None:
                    dropped.add(component)
                    continue
                folders[component] = Path(place) / f"{bucket}-{nth}"
                maker.make(chain([first], lines), folders[component])
            rows = write_bucket(lake, bucket, folders, dropped, held.get(bucket, []))
            for folder in folders.values():
                shutil.rmtree(folder)
            yield pa.record_batch(
                {
                    "bucket": pa.array([bucket], pa.int32()),
                    "components": pa.array([len(folders)], pa.int32()),
                    "rows": pa.array([rows], pa.int64()),
                    "bytes": pa.array([seen[0]], pa.int64()),
                }
            )
