"""Figures of docs/scale.md: what `make bench-engine` prints.

usage: bench.py [transform] [executors] [driver]

BENCH_BYTES says how much is read (1G; the target of `executors` is 4G), CORPUS_DIR has real sessions, otherwise the
project's own are repeated. Logs are repeated with new ids, so that nothing is a copy. BENCH_STAGE=transform leaves the
tables out: only the stage is measured that reads logs, and only `executors` run unless others are named.
"""

import hashlib
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "tests"), str(HERE.parent / "src")]

import local  # noqa: E402
from sessionmill_spark import job  # noqa: E402
from sessionmill_spark.__main__ import size  # noqa: E402
from sessionmill_spark.job import Options, run  # noqa: E402
from sessionmill_spark.lake import Lake  # noqa: E402
from sessionmill_spark.listing import machines  # noqa: E402
from sessionmill_spark.mill import Mill, packed  # noqa: E402

STAGE = os.environ.get("BENCH_STAGE")
UUID = re.compile(rb"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
LIKE = re.compile(rb"\b(msg|req|toolu|call|agent)[_-][0-9A-Za-z]{6,}")


def repeated(home: Path, to: Path, wanted: int) -> tuple[int, int]:
    """Logs of a home again and again, with other ids each time; gives their bytes, and those of whole lines."""
    logs = sorted(path for path in home.rglob("*.jsonl") if path.is_file())
    total, whole, nth = 0, 0, 0
    while total < wanted:
        cache: dict[bytes, bytes] = {}

        def other(match, nth=nth, cache=cache):
            word = match[0]
            if word not in cache:
                digest = hashlib.blake2b(word, key=str(nth).encode(), digest_size=16).hexdigest().encode()
                if UUID.fullmatch(word):
                    cache[word] = b"-".join(
                        (digest[:8], digest[8:12], word[14:15] + digest[13:16], word[19:20] + digest[17:20], digest[20:])
                    )
                else:
                    head = re.match(rb"\w+?[_-]", word)[0]
                    cache[word] = head + (digest * 3)[: len(word) - len(head)]
            return cache[word]

        for log in logs:
            if total >= wanted:
                break
            name = UUID.sub(other, str(log.relative_to(home)).encode()).decode()
            target = to / name.replace(".claude/projects/", f".claude/projects/{nth:04d}", 1)
            content = log.read_bytes()
            if nth:
                content = LIKE.sub(other, UUID.sub(other, content))
                content = content.replace(b'"cwd":"/', b'"cwd":"/%04d/' % nth)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
            total += len(content)
            whole += content.rfind(b"\n") + 1
        nth += 1
    return total, whole


def prepared(folder: Path, wanted: int) -> tuple[Path, int, int]:
    home = folder / "home"
    total, whole = repeated(local.homes()[-1], home, wanted)
    state = home / ".graphiti"
    state.mkdir()
    (state / "graphiti.config.json").write_text(json.dumps(local.SETTINGS))
    return home, total, whole


def bench_transform(wanted: int) -> None:
    """One core: a local run's reading, and `transform` of the same logs."""
    with tempfile.TemporaryDirectory() as folder:
        home, total, _ = prepared(Path(folder), wanted)
        names = "\n".join(str(path) for path in sorted(home.rglob("*.jsonl")))
        words = [local.program(), "--now", local.NOW, "--host", local.HOST, "--jobs", "1"]
        environment = {"HOME": str(home), "PATH": os.environ["PATH"]}

        def local_run() -> float:
            for path in (home / ".graphiti").glob("sessionmill.db*"):
                path.unlink()
            return processor_seconds([*words, "backfill", "--steps", "ingest", "--quiet"], environment, None)

        def transform() -> float:
            return processor_seconds(
                [*words, "transform", "--settings", str(home / ".graphiti")], environment, names
            )

        # turn by turn, so that what else the machine does meets both
        turns = [(local_run(), transform()) for _ in range(3)]
        ingest, lines = min(t[0][0] for t in turns), min(t[1][0] for t in turns)
        memory = max(t[1][1] for t in turns)
        print(f"a local run's ingest, 1 core       {total / 1e6 / ingest:8.1f} MB/s  ({total / 1e6:.0f} MB)")
        print(f"transform, 1 core                  {total / 1e6 / lines:8.1f} MB/s  {ingest / lines:.2f} x  (≥ 0.9)")
        print(f"transform, peak memory             {memory / 1e6:8.1f} MB    (≤ 150)")


def processor_seconds(words, environment, given) -> tuple[float, int]:
    """Seconds of processor time of a command, and its peak memory: others share this machine's cores."""
    with tempfile.TemporaryFile() as standard_input, open(os.devnull, "wb") as nowhere:
        standard_input.write((given or "").encode())
        standard_input.seek(0)
        process = subprocess.Popen(words, stdin=standard_input, stdout=nowhere, env=environment)
        # what a process was before its program began counts in `ru_maxrss`: its own status says what the program took
        peak = 0
        while True:
            done, status, used = os.wait4(process.pid, os.WNOHANG)
            if done:
                break
            words_of = Path(f"/proc/{process.pid}/status").read_text()
            if met := re.search(r"VmHWM:\s+(\d+) kB", words_of):
                peak = max(peak, int(met[1]) * 1024) 
            time.sleep(0.01)
    if os.waitstatus_to_exitcode(status) != 0:
        raise SystemExit(f"bench-engine: {words}: ended with {os.waitstatus_to_exitcode(status)}")
    return used.ru_utime + used.ru_stime, peak


def bench_executors(wanted: int) -> None:
    """The executors' stage with one executor and with two, of one core each."""
    with tempfile.TemporaryDirectory() as folder:
        home, total, whole = prepared(Path(folder), wanted)
        seconds = {}
        for workers in (1, 2):
            lake = Path(folder) / f"lake-{workers}"
            spark = local.spark(workers, **{"spark.speculation": "false"})
            mill = Mill(local.program(), local.HOST, now=local.NOW, settings=packed(str(home / ".graphiti")))
            options = Options(
                Lake(str(lake)), machines([str(home)], {}, local.HOST), mill, partition_bytes=max(total // 40, 1)
            )
            stage = transform_only if STAGE == "transform" else whole_run
            seconds[workers], said = stage(spark, options, total, whole)
            spark.stop()
            kept = sum(path.stat().st_size for path in lake.glob("state/lines/*/*"))
            print(
                f"{workers} executor(s), {total / 1e9:.1f} GB:  transform {seconds[workers]:6.1f} s{said},"
                f" state {kept / total * 1e3:.1f} GB per TB"
            )
            shutil.rmtree(lake)
        print(f"two executors against one          {seconds[1] / seconds[2]:8.2f} x       (≥ 1.7)")


def whole_run(spark, options: Options, total: int, _) -> tuple[float, str]:
    done = run(spark, options)
    tables = f", tables {done['tables_seconds']:6.1f} s, {done['rows']} rows of {done['components']} components"
    return done["transform_seconds"], f"{tables}; shuffled {done['shuffled'] / total * 1e3:.1f} GB per TB"


def transform_only(spark, options: Options, total: int, whole: int) -> tuple[float, str]:
    job._plan(spark, options, job.new_manifest(options))
    files = options.lake.read_table(job._files_name(1)).cast(job.FILES)
    started = time.monotonic()
    stats = job._transform(spark, options, files, 1)
    seconds = time.monotonic() - started
    read = sum(task["bytes"] for task in stats)
    if read != whole or any(task["problems"] for task in stats):
        raise SystemExit(f"bench-engine: {read} of {whole} bytes of whole lines were read")
    busy = sum(task["seconds"] for task in stats)
    return seconds, f", {total / 1e6 / seconds:.0f} MB/s; tasks together {busy:.1f} s"


def bench_driver() -> None:
    """A million files: what listing, comparing and planning take in the driver. In a process of its own."""
    import numpy as np
    import pyarrow as pa

    from sessionmill_spark.job import HEADS
    from sessionmill_spark.listing import SCHEMA
    from sessionmill_spark.planning import FILES, compare, joined, plan, use_little_memory

    use_little_memory()
    count, engineers = 1_000_000, 10_000
    started = time.monotonic()
    chance = np.random.default_rng(1)

    def note(what):
        if os.environ.get("BENCH_PHASES"):
            now = int(Path("/proc/self/statm").read_text().split()[1]) * 4096
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
            print(f"  {what}: {now / 1e6:.0f} MB, peak {peak / 1e6:.0f} MB", file=sys.stderr)

    keys = pa.array(
        f"/home/engineer-{n % engineers:05d}/.claude/projects/-home-engineer-src-project-{n % 17}/{n:08x}-0000-4000-8000-{n:012x}.jsonl"
        for n in range(count)
    )
    listed = pa.table(
        {
            "key": keys,
            "root": pa.array(["s3://logs"] * count),
            "home": pa.nulls(count, pa.string()),
            "packed": pa.array(np.zeros(count, dtype=bool)),
            "size": pa.array(chance.lognormal(12, 2, count).astype(np.int64)),
            "mtime_ns": pa.array(np.arange(count, dtype=np.int64)),
            "host": pa.array([f"engineer-{n % engineers:05d}" for n in range(count)]),
        },
        schema=SCHEMA,
    )
    # three names each; one file in five is another one's relative
    names = chance.integers(0, 1 << 62, (count, 3), dtype=np.uint64)
    relatives = chance.integers(0, count, count // 5)
    names[: count // 5, 2] = names[relatives, 2]
    ties = pa.ListArray.from_arrays(pa.array(np.arange(count + 1, dtype=np.int32) * 3), pa.array(names.ravel()))
    groups = pa.array((np.arange(count) % (engineers * 17)).astype(np.uint64))
    heads = pa.table({"key": keys, "group": groups, "ties": ties}, schema=HEADS)
    note("listed")
    known = FILES.empty_table()
    files = joined(compare(listed, known), listed, known, heads)
    note("joined")
    files, _ = plan(files, 128 << 20, 4 << 30, 1)
    note("planned")
    tasks = len(files["task"].unique())
    # the next day: a hundredth grew
    later = listed.set_column(4, "size", pa.array(np.asarray(listed["size"]) + (np.arange(count) % 100 == 0)))
    del listed, keys, ties, groups
    note("the next day, listed")
    news = compare(later, files)
    note("compared")
    heads = heads.filter(pa.array(np.arange(count) % 100 == 0))
    files = joined(news, later, files, heads)
    note("joined")
    del later, news
    files, _ = plan(files, 128 << 20, 4 << 30, 2)
    note("planned")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(
        f"driver, {count} files              {peak / 1e6:8.1f} MB    (≤ 1000)  {tasks} tasks, {time.monotonic() - started:.0f} s"
    )


if __name__ == "__main__":
    wanted = size(os.environ.get("BENCH_BYTES", "1G"))
    chosen = sys.argv[1:] or (["executors"] if STAGE == "transform" else ["driver", "transform", "executors"])
    for name in chosen:
        if name == "driver" and sys.argv[1:] != ["driver"]:
            subprocess.run([sys.executable, __file__, "driver"], check=True)
        elif name == "driver":
            bench_driver()
        else:
            {"transform": bench_transform, "executors": bench_executors}[name](wanted)
