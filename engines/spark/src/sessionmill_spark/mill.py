"""Runs the program in an executor: files in, lines or tables out.

Nothing is kept between calls. What a call needs besides files (the program, settings, places) comes with Spark.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import tempfile
import zipfile
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import chain
from pathlib import Path

import pyarrow as pa

from .lake import fetch, is_local
from .listing import path_of

LINES = pa.schema(
    [
        ("file", pa.string()),
        ("kind", pa.string()),
        # of the line: what is equal is there once
        ("hash", pa.binary(16)),
        ("line", pa.binary()),
    ]
)

# Rows of one group of a file. More: memory of an executor; fewer: larger files.
BATCH_BYTES = 16 << 20
# What a head is looked for in, of a file far away.
HEAD_BYTES = 9 << 20


class MillError(RuntimeError):
    """The program said that it failed."""


@dataclass
class Mill:
    """What every call has in common. Pickles small: settings are a few kilobytes."""

    program: str
    host: str
    now: str | None = None
    settings: bytes | None = None
    places: str | None = None
    shipped: bool = False
    environment: dict[str, str] = field(default_factory=dict)

    def command(self) -> str:
        if not self.shipped:
            return self.program
        from pyspark import SparkFiles

        path = SparkFiles.get(os.path.basename(self.program))
        os.chmod(path, 0o755)
        return path

    def arguments(self, verb: str, folder: Path, places: bool) -> list[str]:
        """The command line; what it names is written into `folder`."""
        words = [self.command(), verb, "--quiet", "--host", self.host]
        if self.now:
            words += ["--now", self.now]
        if self.settings is not None:
            target = folder / "settings"
            if not target.exists():
                zipfile.ZipFile(io.BytesIO(self.settings)).extractall(target)
            words += ["--settings", str(target)]
        if places and self.places is not None:
            (folder / "places.json").write_text(self.places)
            words += ["--places", str(folder / "places.json")]
        return words

    def lines(self, requests: list[dict], run: int, folder: Path):
        """What comes of files, as batches of `LINES`. A file that can't be read is a row, too."""
        with self._transform(requests, ["--run", str(run), "--format", "arrow"], folder) as output:
            for batch in pa.ipc.open_stream(output):
                columns = [batch.column(name) for name in ("file", "type", "hash")]
                yield pa.record_batch([*columns, batch.column("line").cast(pa.binary())], schema=LINES)

    def told(self, requests: list[dict], wants: str, folder: Path):
        """What `heads` or `ids` say of files, one at a time."""
        with self._transform(requests, [f"--{wants}"], folder) as output:
            yield from map(json.loads, output)

    @contextmanager
    def _transform(self, requests: list[dict], more: list[str], folder: Path):
        """The output of the program, which ended well when the block does."""
        asked = folder / "requests"
        asked.write_text("".join(json.dumps(request) + "\n" for request in requests))
        words = self.arguments("transform", folder, True) + more
        with open(asked, "rb") as standard_input, tempfile.TemporaryFile() as errors:
            process = subprocess.Popen(words, stdin=standard_input, stdout=subprocess.PIPE, stderr=errors)
            try:
                yield process.stdout
                process.wait()
            except pa.ArrowInvalid as cut:
                # who died in the middle of a row says himself why
                process.stdout.close()
                if process.wait() in (0, 3):
                    raise
                raise MillError(_said("transform", process.returncode, errors)) from cut
            finally:
                # whoever stops reading leaves nobody behind
                if process.poll() is None:
                    process.kill()
                    process.wait()
                process.stdout.close()
            # 3: some files could not be read; their rows say which
            if process.returncode not in (0, 3):
                raise MillError(_said("transform", process.returncode, errors))

    def deliver(self, lines, sink: "Sink", receipts: list[dict], folder: Path) -> tuple[list[dict], str | None]:
        """Brings what the lines come to to a sink; gives all receipts, and why something still waits."""
        words = self.arguments("merge", folder, False) + ["--deliver", sink.name]
        for text in sink.confirmed:
            words += ["--confirm", text]
        held = folder / "receipts"
        held.write_text("".join(json.dumps(receipt) + "\n" for receipt in receipts))
        words += ["--receipts", str(held)]
        asked = folder / "lines"
        with open(asked, "wb") as file:
            file.writelines(line if line.endswith(b"\n") else line + b"\n" for line in lines)
        environment = {**os.environ, "TMPDIR": str(folder)}
        with open(asked, "rb") as standard_input:
            done = subprocess.run(words, stdin=standard_input, capture_output=True, env=environment)
        if done.returncode not in (0, 3):
            said = done.stderr.decode(errors="replace").strip()
            raise MillError(f"sessionmill merge --deliver ended with {done.returncode}: {said}")
        printed = [json.loads(line) for line in done.stdout.splitlines()]
        waits = None
        if done.returncode == 3:
            waits = done.stderr.decode(errors="replace").strip() or "some episodes still wait"
        return [{key: value for key, value in line.items() if key != "type"} for line in printed], waits


class TableMaker:
    """Writes the tables of one component after another, by one process that is started for the first of them."""

    def __init__(self, mill: Mill, folder: Path):
        self.mill, self.folder = mill, folder
        self.process = None

    def __enter__(self):
        self.errors = tempfile.TemporaryFile()
        return self

    def __exit__(self, *_):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            with suppress(BrokenPipeError):
                self.process.stdin.close()
            self.process.stdout.close()
        self.errors.close()

    def make(self, lines, into: Path) -> None:
        """Writes the tables of these lines into a new folder."""
        if self.process is None:
            words = self.mill.arguments("merge", self.folder, False) + ["--serve"]
            environment = {**os.environ, "TMPDIR": str(self.folder)}
            self.process = subprocess.Popen(
                words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, env=environment
            )
        end = json.dumps({"type": "end", "tables": str(into)}).encode()
        try:
            for line in chain(lines, [end]):
                self.process.stdin.write(line if line.endswith(b"\n") else line + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        if not self.process.stdout.readline():
            raise MillError(_said("merge", self.process.wait(), self.errors))


@dataclass(frozen=True)
class Sink:
    """A destination of the settings, and what somebody agreed to, word for word."""

    name: str
    confirmed: tuple[str, ...] = ()
    # at most so many tasks deliver at once
    parallel: int = 4


def _said(verb: str, status: int, errors) -> str:
    errors.seek(0)
    text = errors.read().decode(errors="replace").strip()
    return f"sessionmill {verb} ended with {status}: {text or 'it said nothing'}"


def packed(settings: str | None) -> bytes | None:
    """A folder of settings as bytes: files of its first two levels, no store and no logs."""
    if settings is None:
        return None
    root = Path(settings)
    if not root.is_dir():
        raise SystemExit(f"sessionmill-spark: {settings}: is not a folder")
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted([*root.glob("*"), *root.glob("*/*")]):
            if path.is_file() and path.suffix not in {".db", ".db-wal", ".db-shm", ".lock", ".log"}:
                archive.write(path, path.relative_to(root))
    return buffer.getvalue()


def request(row: dict, folder: Path, head: bool = False) -> dict:
    """A file of a listing as the program is asked for it; one far away is fetched first."""
    asked, path = {"key": row["key"], "host": row["host"]}, path_of(row)
    if is_local(row["root"]):
        asked["path"] = path
        if row["key"] == path.removesuffix(".zst"):
            return asked
    else:
        target = folder / "logs" / blake2b(row["key"].encode(), digest_size=8).hexdigest() / Path(path).name
        # a compressed head can't be cut
        cut = HEAD_BYTES if head and not row["packed"] else None
        fetch(row["root"], path, target, cut)
        asked["path"] = str(target)
    asked["size"], asked["mtime_ns"] = row["size"], row["mtime_ns"]
    return asked


def gathered(batches):
    """The same rows in larger batches: a group of a file should be worth reading."""
    waiting, size = [], 0
    for batch in batches:
        waiting.append(batch)
        size += batch.nbytes
        if size >= BATCH_BYTES:
            yield pa.Table.from_batches(waiting)
            waiting, size = [], 0
    if waiting:
        yield pa.Table.from_batches(waiting)


def scratch(prefix: str) -> tempfile.TemporaryDirectory:
    """A folder of a task's own, gone with it."""
    return tempfile.TemporaryDirectory(prefix=f"sessionmill-{prefix}-", ignore_cleanup_errors=True)


def find_program(named: str | None) -> str:
    """The program: as named, else as the shell finds it."""
    found = shutil.which(named or "sessionmill")
    if found is None:
        name = named or "sessionmill"
        raise SystemExit(f"sessionmill-spark: {name}: not found; install sessionmill, or name it with --program")
    return os.path.abspath(found)
