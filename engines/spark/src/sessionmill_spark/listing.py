"""Finds logs below prefixes: names, sizes and times, a row each. Opens none of them.

Who wrote them is said by a map of machines: {"s3://logs/ada-laptop": {"host": "ada-laptop", "home": "/home/ada"}}.
A log below such a prefix is called as it was called on its machine, so that its rows are those of that machine.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.fs as pafs

from .lake import is_local, open_uri

SCHEMA = pa.schema(
    [
        ("key", pa.string()),
        ("root", pa.string()),
        # what the root was called on its machine; null: as it is called here
        ("home", pa.string()),
        # the key has no `.zst`, the file has
        ("packed", pa.bool_()),
        ("size", pa.int64()),
        ("mtime_ns", pa.int64()),
        ("host", pa.string()),
    ]
)


@dataclass(frozen=True)
class Machine:
    """Whose logs a prefix has."""

    root: str
    host: str
    # what the prefix was called there; None: as it is called here
    home: str | None = None


def machines(prefixes: list[str], known: dict[str, dict], host: str) -> list[Machine]:
    """The prefixes to list; those of the map that lie below one of them are told apart."""
    all_machines = []
    for prefix in prefixes:
        prefix = prefix.rstrip("/")
        below = {
            root.rstrip("/"): what
            for root, what in known.items()
            if root.rstrip("/") == prefix or root.startswith(prefix + "/")
        }
        for root, what in sorted(below.items()):
            all_machines.append(Machine(root, what["host"], what.get("home")))
        if not below:
            all_machines.append(Machine(prefix, host))
    return all_machines


def rows(machine: Machine):
    """(path, size, mtime_ns) of everything that is named like a log, folder by folder."""
    filesystem, root = open_uri(machine.root)
    if isinstance(filesystem, pafs.LocalFileSystem):
        yield from _local(root)
        return
    folders = [root]
    while folders:
        folder = folders.pop()
        # a folder at a time keeps the list of a million objects out of memory; deep ones at once
        deep = folder.count("/") - root.count("/") >= 2
        for info in filesystem.get_file_info(pafs.FileSelector(folder, recursive=deep, allow_not_found=True)):
            if info.type == pafs.FileType.Directory:
                if not deep:
                    folders.append(info.path)
            elif info.path.endswith((".jsonl", ".jsonl.zst")):
                yield info.path, info.size, info.mtime_ns


def _local(root: str):
    folders = [root]
    while folders:
        try:
            entries = os.scandir(folders.pop())
        except OSError as error:
            raise SystemExit(f"sessionmill-spark: {error.filename}: {error.strerror}") from error
        with entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                elif entry.name.endswith((".jsonl", ".jsonl.zst")) and entry.is_file(follow_symlinks=False):
                    stat = entry.stat()
                    yield entry.path, stat.st_size, stat.st_mtime_ns


def listing(all_machines: list[Machine], limit: int = 100_000) -> pa.Table:
    """All logs, by key, each once: a plain file stands for its compressed copy."""
    tables = []
    for machine in all_machines:
        _, root = open_uri(machine.root)
        batch: list[list] = [[], [], [], []]

        def flush(batch=batch, machine=machine):
            count = len(batch[0])
            columns = [
                pa.array(batch[0], pa.string()),
                pa.array([machine.root] * count, pa.string()),
                pa.array([machine.home] * count, pa.string()),
                pa.array(batch[1], pa.bool_()),
                pa.array(batch[2], pa.int64()),
                pa.array(batch[3], pa.int64()),
                pa.array([machine.host] * count, pa.string()),
            ]
            tables.append(pa.Table.from_arrays(columns, schema=SCHEMA))
            for column in batch:
                column.clear()

        for path, size, mtime_ns in rows(machine):
            batch[0].append(called(machine, root, path))
            batch[1].append(path.endswith(".zst"))
            batch[2].append(size)
            batch[3].append(mtime_ns)
            if len(batch[0]) >= limit:
                flush()
        flush()
    table = pa.concat_tables(tables) if tables else SCHEMA.empty_table()
    table = table.sort_by([("key", "ascending"), ("packed", "ascending")])
    if table.num_rows < 2:
        return table
    same = pc.equal(table["key"].combine_chunks()[1:], table["key"].combine_chunks()[:-1])
    first = np.concatenate(([True], ~np.asarray(same)))
    return table.filter(pa.array(first))


def called(machine: Machine, root: str, path: str) -> str:
    """A log's key: its path on its machine, without `.zst`."""
    if machine.home is not None:
        key = machine.home.rstrip("/") + path[len(root):]
    elif is_local(machine.root):
        key = path
    else:
        key = "s3://" + path
    return key.removesuffix(".zst")


def path_of(row: dict) -> str:
    """Where a listed log is, in the file system of its root."""
    if row["home"] is not None:
        _, root = open_uri(row["root"])
        path = root + row["key"][len(row["home"].rstrip("/")):]
    elif is_local(row["root"]):
        path = row["key"]
    else:
        path = row["key"].removeprefix("s3://")
    return path + ".zst" if row["packed"] else path
