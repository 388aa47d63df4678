"""What tests compare with: a local backfill, its export, and a small cluster on this machine."""

import atexit
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pyarrow.dataset as ds

REPOSITORY = Path(__file__).resolve().parents[3]
NOW = "2026-12-01T12:00:00Z"
HOST = "test"
SETTINGS = {"version": "2.0.0", "session_tracking": {"enabled": True}}


def program() -> str:
    """The program that is tested."""
    return os.environ.get("SESSIONMILL_PROGRAM", str(REPOSITORY / "target/release/sessionmill"))


def homes() -> list[Path]:
    """Homes with logs: the project's own, and real ones where they are."""
    found = [REPOSITORY / "fixtures/logs/home"]
    corpus = os.environ.get("CORPUS_DIR")
    if corpus and (Path(corpus) / "home").is_dir():
        found.append(Path(corpus) / "home")
    return found


def copied(home: Path, to: Path) -> Path:
    """Only what agents log: no settings, no trust."""
    for name in (".claude/projects", ".codex/sessions", ".codex/archived_sessions", ".gemini", ".qwen"):
        if (home / name).is_dir():
            shutil.copytree(home / name, to / name, dirs_exist_ok=True)
    return to


UUID = re.compile(rb"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


def renumbered(content: bytes, name: str) -> bytes:
    """The same with other ids, always the same ones for a name: somebody else's sessions."""

    def other(match):
        digest = hashlib.blake2b(match[0], key=name.encode(), digest_size=16).hexdigest().encode()
        version, variant = match[0][14:15], match[0][19:20]
        return b"-".join(
            (digest[:8], digest[8:12], version + digest[13:16], variant + digest[17:20], digest[20:])
        )

    return UUID.sub(other, content)


def sessionmill(home: Path, *words: str) -> str:
    """The program in a home of its own."""
    environment = {"HOME": str(home), "PATH": os.environ["PATH"]}
    words = (program(), "--now", NOW, "--host", HOST, *words)
    done = subprocess.run(words, env=environment, capture_output=True, text=True, cwd=home)
    if done.returncode != 0:
        raise AssertionError(f"{words}: {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


def backfilled(home: Path) -> Path:
    """The tables of a local backfill of a home's logs."""
    state = home / ".graphiti"
    state.mkdir(exist_ok=True)
    (state / "graphiti.config.json").write_text(json.dumps(SETTINGS))
    sessionmill(home, "backfill")
    tables = home / "tables"
    sessionmill(home, "export", "--parquet", str(tables))
    return tables


def rows(tables: str | Path, filesystem=None) -> dict[str, list]:
    """All rows by table, in an order that doesn't depend on files."""
    found = {}
    names = sorted(path.name for path in Path(tables).iterdir() if path.is_dir()) if filesystem is None else None
    for name in names or TABLES:
        table = ds.dataset(f"{tables}/{name}", format="parquet", partitioning="hive", filesystem=filesystem).to_table()
        columns = sorted(table.column_names)
        table = table.select(columns)
        held = [tuple(repr(value) for value in row.values()) for row in table.to_pylist()]
        found[name] = [columns, sorted(held)]
    return found


TABLES = (
    "activity", "commands", "decisions", "episodes", "files_changed", "git_operations", "ledger", "messages",
    "sessions", "tests", "tool_calls", "usage",
)


def first_difference(found: dict, wanted: dict) -> str | None:
    """What differs, short enough to be read."""
    if sorted(found) != sorted(wanted):
        return f"tables {sorted(found)} instead of {sorted(wanted)}"
    for name, (columns, held) in wanted.items():
        if found[name][0] != columns:
            return f"{name}: columns {found[name][0]} instead of {columns}"
        if found[name][1] != held:
            surplus = [row for row in found[name][1] if row not in set(held)]
            missing = [row for row in held if row not in set(found[name][1])]
            cells = []
            if surplus and missing:
                pairs = zip(columns, surplus[0], missing[0])
                cells = [(column, a[:200], b[:200]) for column, a, b in pairs if a != b]
            return (
                f"{name}: {len(found[name][1])} rows instead of {len(held)}; {len(surplus)} too many,"
                f" {len(missing)} missing; of the first: {cells or (surplus or missing)[:1]}"
            )
    return None


def spark(workers: int = 2, **more):
    """A cluster with executors of their own, each of one core and little memory."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    source = str(REPOSITORY / "engines/spark/src")
    held = os.environ.get("PYTHONPATH", "")
    if source not in held.split(os.pathsep):
        os.environ["PYTHONPATH"] = os.pathsep.join(part for part in (source, held) if part)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    from pyspark.sql import SparkSession

    scratch = tempfile.mkdtemp(prefix="sessionmill-spark-")
    atexit.register(shutil.rmtree, scratch, ignore_errors=True)
    os.environ["SPARK_WORKER_DIR"] = f"{scratch}/work"
    builder = SparkSession.builder.master(f"local-cluster[{workers},1,512]").appName("sessionmill-test")
    settings = {
        "spark.driver.memory": "512m",
        "spark.executor.memory": "512m",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.local.dir": scratch,
        "spark.sql.warehouse.dir": f"{scratch}/warehouse",
        "spark.sql.shuffle.partitions": "4",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "500",
        "spark.executorEnv.PYTHONPATH": os.environ["PYTHONPATH"],
        "spark.executorEnv.PYSPARK_PYTHON": sys.executable,
        # a second attempt of what is slow
        "spark.speculation": "true",
        "spark.speculation.interval": "200ms",
        "spark.speculation.multiplier": "1.2",
        "spark.speculation.quantile": "0.3",
        "spark.speculation.minTaskRuntime": "200ms",
        **more,
    }
    for key, value in settings.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


def descendants(of: int) -> dict[int, str]:
    """Processes that come of one, with their command lines."""
    parents, words = {}, {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text()
                words[int(entry.name)] = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            parents[int(entry.name)] = int(stat.rpartition(")")[2].split()[1])
    found, waiting = {}, [of]
    while waiting:
        parent = waiting.pop()
        for child, its_parent in parents.items():
            if its_parent == parent and child not in found:
                found[child] = words.get(child, "")
                waiting.append(child)
    return found


def kill_an_executor(running: str = "") -> int | None:
    """Ends an executor of this process's own cluster at once, one that runs such a program; gives its id."""
    for process, words in descendants(os.getpid()).items():
        if "CoarseGrainedExecutorBackend" in words and words.split()[0].endswith("java"):
            if any(running in words for words in descendants(process).values()):
                os.kill(process, signal.SIGKILL)
                return process
    return None
