"""Which files have news, which belong together, and which are read in one task.

A *family* is files that may hold the same records: forks, resumed sessions, sub-agents' logs. A *component* is
families that share a project of a machine: its rows are written together. All of it is arrays, so that a million
files take some hundred megabytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .listing import SCHEMA as LISTED

# What a run knows of every file, by key. `parts` are the files of lines that have something of it.
FILES = pa.schema(
    list(LISTED)
    + [
        ("group", pa.uint64()),
        ("ties", pa.list_(pa.uint64())),
        ("component", pa.string()),
        ("parts", pa.list_(pa.string())),
        ("gone", pa.bool_()),
        # of the run that this was planned for; -1: it isn't read
        ("task", pa.int32()),
        # of a family that is read in several tasks; -1: it is read in one
        ("split", pa.int32()),
    ]
)


def use_little_memory() -> None:
    """Gives freed memory back: of Arrow's allocators jemalloc holds the least of what planning frees."""
    if "jemalloc" in pa.supported_memory_backends():
        pa.set_memory_pool(pa.jemalloc_memory_pool())


def name_hash(text: str) -> int:
    """Names of ties and projects as 8 bytes."""
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")


def connected(count: int, of: np.ndarray, names: np.ndarray) -> np.ndarray:
    """Labels of `count` members, equal where a chain of equal names connects them. `of[i]` has `names[i]`."""
    labels = np.arange(count, dtype=np.int64)
    if len(of) == 0:
        return labels
    _, names = np.unique(names, return_inverse=True)
    by_name = np.argsort(names, kind="stable")
    of, names = of[by_name], names[by_name]
    starts = np.flatnonzero(np.concatenate(([True], names[1:] != names[:-1])))
    sizes = np.diff(np.concatenate((starts, [len(names)])))
    while True:
        least = np.minimum.reduceat(labels[of], starts)
        now = labels.copy()
        np.minimum.at(now, of, np.repeat(least, sizes))
        # a label is a member: its own label is no greater
        now = now[now]
        if np.array_equal(now, labels):
            return labels
        labels = now


def rows_of(lists: pa.ChunkedArray | pa.Array) -> tuple[np.ndarray, np.ndarray]:
    """Of a column of lists: the row of each element, and how long each list is."""
    lists = lists.combine_chunks() if isinstance(lists, pa.ChunkedArray) else lists
    lengths = np.asarray(pc.fill_null(pc.list_value_length(lists), 0))
    return np.repeat(np.arange(len(lists)), lengths), lengths


@dataclass
class News:
    """How a listing differs from what is known. Rows, not copies of them: keys take most of the memory."""

    # of the listing: files that nobody knew
    new: pa.Table
    # rows of the listing, and of what is known, of files that are otherwise now
    listed_rows: np.ndarray
    known_rows: np.ndarray
    # of what is known: files that are not listed any more
    gone: np.ndarray


# Names that are looked for at once. More: Arrow's table of them takes 400 bytes each; fewer: time.
NAMES_AT_ONCE = 200_000


def positions(values: pa.ChunkedArray, of: pa.ChunkedArray) -> np.ndarray:
    """At which row of `of` each value is; -1: at none."""
    found = np.full(len(values), -1, dtype=np.int64)
    for start in range(0, len(of), NAMES_AT_ONCE):
        at = pc.index_in(values, of.slice(start, NAMES_AT_ONCE).combine_chunks())
        found[np.asarray(pc.is_valid(at))] = np.asarray(pc.drop_null(at)) + start
    return found


def compare(listed: pa.Table, known: pa.Table) -> News:
    """Compares by name, size and time. Whether a file goes on as it was, the program finds out."""
    at = positions(listed["key"], known["key"])
    is_new = at < 0
    met = np.flatnonzero(~is_new)
    of_known = at[met]
    differs = np.asarray(known["gone"])[of_known].astype(bool)
    for column in ("size", "mtime_ns"):
        differs |= np.asarray(listed[column])[met] != np.asarray(known[column])[of_known]
    gone = np.ones(known.num_rows, dtype=bool)
    gone[of_known] = False
    new = listed if is_new.all() else listed.filter(pa.array(is_new))
    return News(new, met[differs], of_known[differs], gone)


def joined(news: News, listed: pa.Table, known: pa.Table, heads: pa.Table) -> pa.Table:
    """All files that a run knows of; `task` is 0 where one has news. `heads` has those that could be looked at."""
    known = _updated(news, listed, known, heads)
    at = pc.index_in(news.new["key"].combine_chunks(), heads["key"].combine_chunks())
    new = news.new if at.null_count == 0 else news.new.filter(pc.is_valid(at))
    met = heads.select(["group", "ties"]).take(pc.drop_null(at))
    count = new.num_rows
    is_log = np.asarray(pc.is_valid(met["ties"]))
    no_parts = pa.ListArray.from_arrays(pa.array(np.zeros(count + 1, dtype=np.int32)), pa.array([], pa.string()))
    added = {
        "group": met["group"],
        "ties": pc.fill_null(met["ties"], pa.scalar([], pa.list_(pa.uint64()))),
        "component": pa.nulls(count, pa.string()),
        "parts": no_parts,
        "gone": pa.array(np.zeros(count, dtype=bool)),
        "task": pa.array(np.where(is_log, 0, -1).astype(np.int32)),
        "split": pa.array(np.full(count, -1, dtype=np.int32)),
    }
    for column, values in added.items():
        new = new.append_column(FILES.field(column), values)
    return pa.concat_tables([known, new.cast(FILES)])


def _updated(news: News, listed: pa.Table, known: pa.Table, heads: pa.Table) -> pa.Table:
    """What was known, with what is otherwise now."""
    looked = pc.index_in(listed["key"].take(pa.array(news.listed_rows)), heads["key"].combine_chunks())
    # what couldn't be looked at is looked at again next time
    can = np.asarray(pc.is_valid(looked))
    of_known, of_listed = news.known_rows[can], pa.array(news.listed_rows[can])
    said = heads["ties"].take(pc.drop_null(looked))
    task = np.full(known.num_rows, -1, dtype=np.int32)
    task[of_known] = np.where(np.asarray(pc.is_valid(said)), 0, -1)
    for column in ("root", "home", "packed", "size", "mtime_ns", "host"):
        known = _with_rows(known, column, of_known, listed[column].take(of_listed))
    # a log that was too short to tell may say by now whose relative it is
    before = known["ties"].take(pa.array(of_known)).to_pylist()
    ties = [sorted({*held, *(now or [])}) for held, now in zip(before, said.to_pylist(), strict=True)]
    if ties != before:
        known = _with_rows(known, "ties", of_known, pa.array(ties, pa.list_(pa.uint64())))
    for column, values in (("task", task), ("gone", news.gone)):
        known = replaced(known, column, pa.array(values, FILES.field(column).type))
    return replaced(known, "split", pa.array(np.full(known.num_rows, -1, dtype=np.int32)))


def _with_rows(table: pa.Table, column: str, rows: np.ndarray, values) -> pa.Table:
    """A table with other values in some rows of a column."""
    if len(rows) == 0:
        return table
    at = np.arange(table.num_rows)
    at[rows] = table.num_rows + np.arange(len(rows))
    chunks = values.chunks if isinstance(values, pa.ChunkedArray) else [values]
    both = pa.concat_arrays([*table[column].chunks, *chunks])
    return replaced(table, column, both.take(pa.array(at)))


def replaced(table: pa.Table, column: str, values) -> pa.Table:
    """A table with other values in a column."""
    return table.set_column(table.schema.get_field_index(column), FILES.field(column), values)


def labelled(files: pa.Table) -> tuple[np.ndarray, np.ndarray]:
    """Families and components: labels for each row of a table with `ties` and `group`."""
    (of, _), names = rows_of(files["ties"]), np.asarray(pc.list_flatten(files["ties"]))
    families = connected(files.num_rows, of, names)
    groups = np.asarray(files["group"])
    rows = np.arange(files.num_rows)
    # families have names of their own beside those of the projects
    members = np.concatenate((rows, rows))
    joined = np.concatenate((families.astype(np.uint64), groups | np.uint64(1 << 63)))
    return families, connected(files.num_rows, members, joined)


def plan(files: pa.Table, partition_bytes: int, split_bytes: int, run: int) -> tuple[pa.Table, list[str]]:
    """Adds to all files what a run does with them; gives also the components that are no more.

    `files` has a row for each file that is known or new, `task` being 0 where it has news. A family is read by one
    task unless it has more than `split_bytes`, all of them new.
    """
    if files.num_rows == 0:
        return files, []
    families, components = labelled(files)
    news = np.asarray(files["task"]) >= 0
    fresh = np.asarray(pc.equal(pc.list_value_length(files["parts"]), 0))
    sizes = np.asarray(files["size"]).astype(np.int64)
    keys = files["key"]
    count = files.num_rows
    component, gone = _named(files["component"], components, keys)
    # a family that has news is read in the task that its files with news are in
    to_read = np.where(news, sizes, 0)
    weight = np.bincount(families, weights=to_read, minlength=count)
    has_known = np.bincount(families, weights=~fresh, minlength=count) > 0
    is_split = (weight > split_bytes) & ~has_known
    task = np.full(count, -1, dtype=np.int32)
    split = np.full(count, -1, dtype=np.int32)
    order = np.lexsort((families, components))
    current, filled, splits = -1, 0, 0
    last_family, fits = -1, False
    for row in order:
        if not news[row]:
            continue
        family = families[row]
        if is_split[family]:
            # files one after the other, as many as fit
            if family != last_family:
                splits, filled = splits + 1, partition_bytes
            if filled + sizes[row] > partition_bytes:
                current, filled = current + 1, 0
            split[row], filled = splits - 1, filled + int(sizes[row])
            fits = False
        elif family != last_family:
            if not fits or (filled and filled + weight[family] > partition_bytes):
                current, filled = current + 1, 0
            filled, fits = filled + int(weight[family]), True
        task[row], last_family = current, family
    # what a family has besides is known to its task
    relatives = ~news & np.isin(families, families[news])
    of_family = dict(zip(families[news].tolist(), task[news].tolist(), strict=True)) if relatives.any() else {}
    for row in np.flatnonzero(relatives):
        task[row] = of_family[int(families[row])]
    parts = _with_part(files["parts"], news, task, run)
    for column, values in (
        ("component", component),
        ("task", pa.array(task)),
        ("split", pa.array(split)),
        ("parts", parts),
    ):
        files = files.set_column(files.schema.get_field_index(column), FILES.field(column), values)
    return files, gone


def part_name(run: int, task: int) -> str:
    """Where a task's lines are."""
    return f"state/lines/run-{run:06d}/task-{task:06d}.parquet"


def _with_part(parts: pa.ChunkedArray, news: np.ndarray, task: np.ndarray, run: int) -> pa.Array:
    """A file's lines are also in the part of the task that reads it."""
    of, _ = rows_of(parts)
    held = pc.list_flatten(parts)
    held = held.combine_chunks() if isinstance(held, pa.ChunkedArray) else held
    own = np.flatnonzero(news)
    tasks, at = np.unique(task[own], return_inverse=True)
    added = pa.array([part_name(run, int(nth)) for nth in tasks], pa.string()).take(pa.array(at))
    rows = np.concatenate((of, own))
    order = np.argsort(rows, kind="stable")
    offsets = np.searchsorted(rows[order], np.arange(len(news) + 1))
    values = pa.concat_arrays([held.cast(pa.string()), added]).take(pa.array(order))
    return pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), values)


def _named(held: pa.ChunkedArray, components: np.ndarray, keys: pa.ChunkedArray) -> tuple[pa.Array, list[str]]:
    """A component keeps its name; where several become one, one of their names stays."""
    labels, at = np.unique(components, return_inverse=True)
    names: list[str | None] = [None] * len(labels)
    former: set[str] = set()
    known = np.flatnonzero(np.asarray(pc.is_valid(held)))
    for nth, name in zip(at[known].tolist(), held.take(pa.array(known)).to_pylist(), strict=True):
        former.add(name)
        names[nth] = min(name, names[nth] or name)
    for nth, label in enumerate(labels.tolist()):
        if names[nth] is None:
            names[nth] = f"{name_hash(keys[label].as_py()):016x}"
    gone = sorted(former - set(names))
    return pa.array(names, pa.string()).take(pa.array(at)), gone


def bucket_of(component: str, buckets: int) -> int:
    """Which file of a month a component's rows are in."""
    return name_hash(component) % buckets
