"""Which files have news, which belong together, and which are read in one task.

A *family* is files that may hold the same records: forks, resumed sessions, sub-agents' logs. A *component* is
families that share a project of a machine: its rows are written together. All of it is arrays, so that a million
files take some hundred megabytes.
"""

from __future__ import annotations

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
        # the name under which its family's lines are told from others
        ("family", pa.string()),
    ]
)


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


def flat(lists: pa.ChunkedArray | pa.Array) -> tuple[np.ndarray, np.ndarray]:
    """Of a column of lists: the row of each element, and the elements."""
    lists = lists.combine_chunks() if isinstance(lists, pa.ChunkedArray) else lists
    lengths = np.asarray(pc.fill_null(pc.list_value_length(lists), 0))
    return np.repeat(np.arange(len(lists)), lengths), np.asarray(pc.list_flatten(lists))


def compare(listed: pa.Table, known: pa.Table) -> tuple[pa.Table, pa.Table, pa.Table, pa.Table]:
    """New files, changed ones, those that are as they were, and known ones that are gone."""
    at = pc.index_in(listed["key"].combine_chunks(), known["key"].combine_chunks())
    is_new = np.asarray(pc.is_null(at))
    new = listed.filter(pa.array(is_new))
    met = listed.filter(pa.array(~is_new))
    before = known.take(pc.drop_null(at))
    differs = pc.or_(
        pc.not_equal(met["size"], before["size"]),
        pc.or_(pc.not_equal(met["mtime_ns"], before["mtime_ns"]), before["gone"]),
    )
    both = before
    for column in ("root", "path", "size", "mtime_ns", "host"):
        both = both.set_column(both.schema.get_field_index(column), column, met[column])
    changed, same = both.filter(differs), both.filter(pc.invert(differs))
    gone = np.ones(known.num_rows, dtype=bool)
    gone[np.asarray(pc.drop_null(at))] = False
    return new, changed, same, known.filter(pa.array(gone))


def labelled(files: pa.Table) -> tuple[np.ndarray, np.ndarray]:
    """Families and components: labels for each row of a table with `ties` and `group`."""
    of, names = flat(files["ties"])
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
    files = files.sort_by("key")
    families, components = labelled(files)
    news = np.asarray(files["task"]) >= 0
    fresh = np.asarray(pc.equal(pc.list_value_length(files["parts"]), 0))
    sizes = np.asarray(files["size"]).astype(np.int64)
    keys = files["key"]
    count = files.num_rows
    component, gone = _named(files["component"].to_numpy(zero_copy_only=False), components, keys)
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
    names = pa.array(np.asarray(keys.take(pa.array(families)), dtype=object), pa.string())
    parts = _with_part(files["parts"], news, task, run)
    for column, values in (
        ("component", pa.array(component, pa.string())),
        ("task", pa.array(task)),
        ("split", pa.array(split)),
        ("family", names),
        ("parts", parts),
    ):
        files = files.set_column(files.schema.get_field_index(column), FILES.field(column), values)
    return files, gone


def part_name(run: int, task: int) -> str:
    """Where a task's lines are."""
    return f"state/lines/run-{run:06d}/task-{task:06d}.parquet"


def _with_part(parts: pa.ChunkedArray, news: np.ndarray, task: np.ndarray, run: int) -> pa.Array:
    """A file's lines are also in the part of the task that reads it."""
    of, held = flat(parts)
    own = np.flatnonzero(news)
    rows = np.concatenate((of, own))
    added = [part_name(run, int(task[row])) for row in own]
    names = np.concatenate((held.astype(object), np.array(added, dtype=object)))
    order = np.argsort(rows, kind="stable")
    offsets = np.searchsorted(rows[order], np.arange(len(news) + 1))
    values = pa.array(names[order].tolist(), pa.string())
    return pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), values)


def _named(held: np.ndarray, components: np.ndarray, keys: pa.ChunkedArray) -> tuple[list[str], list[str]]:
    """A component keeps its name; where several become one, one of their names stays."""
    names: dict[int, str] = {}
    former: set[str] = set()
    for label, name in zip(components.tolist(), held.tolist(), strict=True):
        if name:
            former.add(name)
            names[label] = min(name, names.get(label, name))
    for label in np.unique(components):
        if int(label) not in names:
            key = keys[int(label)].as_py()
            names[int(label)] = f"{name_hash(key):016x}"
    now = [names[label] for label in components.tolist()]
    return now, sorted(former - set(names.values()))


def bucket_of(component: str, buckets: int) -> int:
    """Which file of a month a component's rows are in."""
    return name_hash(component) % buckets
