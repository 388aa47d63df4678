"""Puts the tables of components together: each bucket has one file per table and month.

A file's metadata says which rows are whose, so that a component's rows are replaced without knowing what they mean.
"""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from .lake import Lake

OWNERS = b"sessionmill.components"


def file_name(table: str, month: str, bucket: int) -> str:
    """Where a bucket's rows of a month are, from the lake."""
    return f"tables/{table}/{month}/part-{bucket:04d}.parquet"


def bucket_of_file(name: str) -> int:
    return int(Path(name).stem.removeprefix("part-"))


def made(folder: Path) -> dict[tuple[str, str], list[Path]]:
    """The files that the program wrote for a component, by table and month."""
    found = defaultdict(list)
    for path in sorted(folder.glob("*/month=*/*.parquet")):
        found[path.parent.parent.name, path.parent.name].append(path)
    return found


def write_bucket(lake: Lake, bucket: int, folders: dict[str, Path], dropped: set[str], held: list[str]) -> int:
    """Replaces the rows of components; gives how many were written. Doing it again changes nothing.

    `folders` has what the program made of each component, `dropped` those that are no more, `held` the bucket's files
    as they are in the lake.
    """
    new: dict[tuple[str, str], list[tuple[str, Path]]] = defaultdict(list)
    for component in sorted(folders):
        for place, paths in made(folders[component]).items():
            new[place] += [(component, path) for path in paths]
    before = {tuple(name.split("/")[1:3]): name for name in held}
    replaced = set(folders) | dropped
    rows = 0
    for place in sorted(set(new) | set(before)):
        rows += _write_file(lake, file_name(*place, bucket), new.get(place, []), before.get(place), replaced)
    return rows


def _write_file(
    lake: Lake, name: str, new: list[tuple[str, Path]], before: str | None, replaced: set[str]
) -> int:
    pieces: list[tuple[str, object, int, int]] = []
    old = lake.parquet(before) if before else None
    at = 0
    touched = bool(new)
    for component, count in _owners(old):
        if component in replaced:
            touched = True
        else:
            pieces.append((component, old, at, count))
        at += count
    if not touched:
        return 0
    rows = 0
    for component, path in new:
        file = pq.ParquetFile(path)
        pieces.append((component, file, 0, file.metadata.num_rows))
        rows += file.metadata.num_rows
    pieces = sorted((piece for piece in pieces if piece[3]), key=lambda piece: piece[0])
    # every table has a file somewhere, so that a query over it finds its columns
    if not pieces and not (new and "/month=none/" in name):
        lake.delete(name)
        return 0
    schema = pieces[0][1].schema_arrow if not new else pq.read_schema(new[0][1])
    owners: list[list] = []
    for component, _, _, count in pieces:
        if owners and owners[-1][0] == component:
            owners[-1][1] += count
        else:
            owners.append([component, count])
    metadata = {**(schema.metadata or {}), OWNERS: json.dumps(owners, separators=(",", ":")).encode()}
    schema = schema.with_metadata(metadata)
    with lake.writing(name) as stream, pq.ParquetWriter(stream, schema, compression="zstd") as writer:
        for table in _gathered(_tables(pieces), schema):
            writer.write_table(table)
    return rows


def _owners(file: pq.ParquetFile | None) -> list:
    return json.loads((file.schema_arrow.metadata or {}).get(OWNERS, b"[]")) if file else []


# Rows of a group. More: memory; fewer: larger files, and groups that say less.
GROUP_ROWS, GROUP_BYTES = 100_000, 64 << 20


def _gathered(tables, schema: pa.Schema):
    waiting, rows, size = [], 0, 0
    for table in tables:
        waiting.append(table.cast(schema))
        rows, size = rows + table.num_rows, size + table.nbytes
        if rows >= GROUP_ROWS or size >= GROUP_BYTES:
            yield pa.concat_tables(waiting)
            waiting, rows, size = [], 0, 0
    if waiting:
        yield pa.concat_tables(waiting)


def _tables(pieces):
    """The rows of pieces in their order; of each file some at a time."""
    cached: tuple[object, int, int, pa.Table | None] = (None, 0, 0, None)
    for _, file, start, count in pieces:
        at = 0
        for group in range(file.metadata.num_row_groups):
            size = file.metadata.row_group(group).num_rows
            low, high = max(start, at), min(start + count, at + size)
            if low < high:
                if cached[0] is not file or cached[1] != group:
                    cached = (file, group, at, file.read_row_group(group))
                yield cached[3].slice(low - at, high - low)
            at += size
