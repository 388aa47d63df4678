"""Reads a folder of tables with DuckDB, pandas, pyarrow and Polars, compares what they see, and runs the questions
of a page: each block of SQL with the result below it.

usage: read-tables.py TABLES [PAGE [--update | --time MS]]
"""

import json
import pathlib
import re
import sys
import time

import duckdb
import pandas
import polars
import pyarrow
import pyarrow.dataset

BLOCK = re.compile(r"```sql\n(.*?)```\n(?:\n```text\n(.*?)```\n)?", re.S)


def views(tables):
    """The statements that docs/sql.md shows."""
    for folder in sorted(path for path in tables.iterdir() if path.is_dir()):
        files = folder / "*/*.parquet"
        yield f"CREATE VIEW {folder.name} AS FROM read_parquet('{files}', hive_partitioning = true)"


def connect(tables):
    db = duckdb.connect()
    db.execute("SET TimeZone = 'UTC'")
    for view in views(tables):
        db.execute(view)
    return db


def cells(rows):
    """Rows as any reader has them, sorted: times as milliseconds, lists as lists."""

    def plain(value):
        if value is None or value is pandas.NaT or (isinstance(value, float) and value != value):
            return None
        if hasattr(value, "timestamp"):
            return round(value.timestamp() * 1000)
        if hasattr(value, "tolist"):
            return value.tolist()
        return value

    return sorted((repr([plain(value) for value in row]) for row in rows))


def read_back(tables, db):
    manifest = json.loads((tables / "_sessionmill.json").read_text())
    for folder in sorted(path for path in tables.iterdir() if path.is_dir()):
        name = folder.name
        wants = sum(part["files"].get(name, {"rows": 0})["rows"] for part in manifest["parts"])
        columns = [row[0] for row in db.execute(f"DESCRIBE {name}").fetchall()]
        assert columns[-1] == "month", columns
        by_duckdb = cells(db.execute(f"FROM {name}").fetchall())
        assert len(by_duckdb) == wants, (name, len(by_duckdb), wants)
        dataset = pyarrow.dataset.dataset(folder, partitioning="hive", exclude_invalid_files=False)
        by_arrow = dataset.to_table(columns=columns)
        assert cells(row.values() for row in by_arrow.to_pylist()) == by_duckdb, (name, "pyarrow")
        by_polars = polars.read_parquet(folder / "**/*.parquet", hive_partitioning=True)
        assert cells(by_polars.select(columns).rows()) == by_duckdb, (name, "Polars")
        by_pandas = pandas.read_parquet(folder, dtype_backend="pyarrow")[columns]
        rows = (row[1:] for row in by_pandas.itertuples(name=None))
        assert cells([None if value is pandas.NA else value for value in row] for row in rows) == by_duckdb, (
            name,
            "pandas",
        )
        print(f"{name}: {wants} rows, the same in DuckDB, pyarrow, Polars and pandas", file=sys.stderr)


def shown(cursor):
    names = [column[0] for column in cursor.description]
    rows = [["" if value is None else str(value) for value in row] for row in cursor.fetchall()]
    widths = [max(len(row[i]) for row in [names, *rows]) for i in range(len(names))]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in [names, *rows])
    return "\n".join(lines) + "\n"


def questions(page, db, update, time_max_ms):
    text = page.read_text()
    answered, slow, wrong = [], [], []

    def answer(block):
        sql, result = block.groups()
        db.execute(sql).fetchall()  # files are opened
        begun = time.monotonic()
        cursor = db.execute(sql)
        is_now = shown(cursor)
        took_ms = (time.monotonic() - begun) * 1000
        answered.append(took_ms)
        first = sql.strip().splitlines()[0]
        if time_max_ms is not None:
            print(f"{took_ms:6.1f} ms  {first}")
            if took_ms > time_max_ms:
                slow.append(first)
        elif is_now != result:
            wrong.append((first, is_now, result))
        return f"```sql\n{sql}```\n\n```text\n{is_now}```\n"

    updated = BLOCK.sub(answer, text)
    if update:
        page.write_text(updated)
    else:
        for first, is_now, result in wrong:
            print(f"{page}: {first}\nis now:\n{is_now}the page says:\n{result}", file=sys.stderr)
        assert not wrong, f"{len(wrong)} results differ: scripts/test-tables PROGRAM --update"
    assert not slow, f"slower than {time_max_ms} ms: {slow}"
    assert len(answered) >= 15, answered
    print(f"{page}: {len(answered)} questions, the slowest took {max(answered):.0f} ms", file=sys.stderr)


def main(tables, page=None, how="", most="100"):
    tables = pathlib.Path(tables)
    db = connect(tables)
    if how != "--time":
        read_back(tables, db)
    if page:
        questions(pathlib.Path(page), db, how == "--update", float(most) if how == "--time" else None)


main(*sys.argv[1:])
