"""Compares what `transform` prints as JSON with its Arrow stream, read by pyarrow, Polars and DuckDB.

usage: read-lines.py JSON_LINES ARROW_STREAM
"""

import json
import pathlib
import sys

import duckdb
import polars
import pyarrow

STEP = ["file", "run", "order", "generation", "offset", "read_to"]


def wanted(line):
    """A line's cells, as docs/engine.md says where they come from."""
    value = json.loads(line)
    session, around = value.get("session"), value
    if isinstance(session, dict):
        session, around = session["id"], session
    cells = {name: value.get("step", value).get(name) for name in STEP}
    return {
        "type": value["type"], **cells, "nth": value.get("nth"), "session": session,
        "namespace": around.get("namespace"), "id": value.get("episode", {}).get("id"), "line": line,
    }


def main(lines, stream):
    header, *lines = pathlib.Path(lines).read_text(encoding="utf-8").splitlines()
    rows = [wanted(line) for line in lines]
    assert len(rows) > 20, len(rows)
    with pyarrow.OSFile(str(stream), "rb") as file, pyarrow.ipc.open_stream(file) as reader:
        told = {key.decode(): value.decode() for key, value in reader.schema.metadata.items()}
        rows_read = reader.read_all()
    header = json.loads(header)
    assert told == {f"sessionmill.{name}": str(header[name]) for name in ("contract", "program")}, told
    hashes = rows_read.column("hash").to_pylist()
    assert len(set(hashes)) == len(set(lines)), "equal lines have equal hashes, others have others"
    assert rows_read.drop_columns("hash").to_pylist() == rows, "pyarrow"
    assert polars.read_ipc_stream(stream).drop("hash").to_dicts() == rows, "Polars"
    counted = duckdb.sql("SELECT type, count(*) FROM rows_read GROUP BY type").fetchall()
    kinds = [row["type"] for row in rows]
    assert dict(counted) == {kind: kinds.count(kind) for kind in kinds}, counted
    print(f"{len(rows)} lines of transform: pyarrow, Polars and DuckDB read the Arrow stream as the JSON says it")


if __name__ == "__main__":
    main(*sys.argv[1:])
