"""Families, components and tasks, without Spark and without the program."""

import random
import unittest
from unittest import mock

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sessionmill_spark import planning
from sessionmill_spark.job import HEADS
from sessionmill_spark.listing import SCHEMA as LISTED
from sessionmill_spark.planning import FILES, bucket_of, compare, connected, joined, name_hash, part_name, plan


def files(rows):
    """Rows with news unless they say otherwise."""
    whole = []
    for row in rows:
        base = {
            "root": "/logs", "home": None, "packed": False, "size": 10, "mtime_ns": 1, "host": "ada", "group": 1,
            "ties": [], "component": None, "parts": [], "gone": False, "task": 0, "split": -1,
        }
        whole.append({**base, **row})
    return pa.Table.from_pylist(whole, schema=FILES)


def by_key(table, column):
    return dict(zip(table["key"].to_pylist(), table[column].to_pylist()))


class Planning(unittest.TestCase):
    def test_chains_of_names_connect(self):
        for seed in range(50):
            chance = random.Random(seed)
            count = chance.randrange(1, 60)
            pairs = [(chance.randrange(count), chance.randrange(count)) for _ in range(chance.randrange(0, 60))]
            parent = list(range(count))

            def root(member):
                while parent[member] != member:
                    member = parent[member]
                return member

            of, names = [], []
            for nth, (one, other) in enumerate(pairs):
                of += [one, other]
                names += [nth * 7, nth * 7]
                low, high = sorted((root(one), root(other)))
                parent[high] = low
            found = connected(count, np.array(of, dtype=np.int64), np.array(names, dtype=np.uint64))
            self.assertEqual(found.tolist(), [root(member) for member in range(count)], seed)

    def test_families_are_read_by_one_task_and_tasks_are_filled(self):
        table = files([
            {"key": "/a", "ties": [1], "size": 40, "group": 1},
            {"key": "/b", "ties": [1, 2], "size": 40, "group": 2},
            {"key": "/c", "ties": [2], "size": 40, "group": 3},
            {"key": "/d", "ties": [3], "size": 10, "group": 4},
            {"key": "/e", "ties": [4], "size": 10, "group": 5},
            {"key": "/f", "ties": [5], "size": 100, "group": 6},
        ])
        planned, gone = plan(table, 100, 1_000, 1)
        task = by_key(planned, "task")
        self.assertEqual(len({task["/a"], task["/b"], task["/c"]}), 1)
        self.assertEqual(task["/d"], task["/e"], "small families share a task")
        self.assertNotEqual(task["/e"], task["/f"])
        self.assertEqual(gone, [])
        self.assertEqual(by_key(planned, "parts")["/f"], [part_name(1, task["/f"])])
        component = by_key(planned, "component")
        self.assertEqual(component["/a"], component["/c"])
        self.assertNotEqual(component["/a"], component["/d"])

    def test_a_family_that_is_too_large_is_divided_where_all_of_it_is_new(self):
        rows = [{"key": f"/{n}", "ties": [9], "size": 60} for n in range(4)]
        planned, _ = plan(files([*rows, {"key": "/x", "ties": [8], "size": 5}]), 100, 200, 1)
        task = by_key(planned, "task")
        self.assertEqual(len({task[f"/{n}"] for n in range(4)}), 4)
        self.assertEqual(set(by_key(planned, "split").values()), {0, -1})
        self.assertNotIn(task["/x"], [task[f"/{n}"] for n in range(4)])
        rows[0]["parts"] = ["state/lines/run-000000/task-000000.parquet"]
        planned, _ = plan(files(rows), 100, 200, 1)
        self.assertEqual(set(by_key(planned, "split").values()), {-1})
        self.assertEqual(len(set(by_key(planned, "task").values())), 1)

    def test_components_keep_their_names_and_say_which_are_no_more(self):
        planned, _ = plan(files([{"key": "/a", "ties": [1], "group": 1}, {"key": "/b", "ties": [2], "group": 2}]),
                          100, 1_000, 1)
        before = by_key(planned, "component")
        self.assertEqual(len(set(before.values())), 2)
        rows = [row for row in planned.to_pylist()]
        for row in rows:
            row["task"] = -1
        # what is new is a fork of both
        table = pa.concat_tables([pa.Table.from_pylist(rows, schema=FILES),
                                  files([{"key": "/c", "ties": [1, 2], "group": 1}])])
        planned, gone = plan(table, 100, 1_000, 2)
        after = set(by_key(planned, "component").values())
        self.assertEqual(after, {min(before.values())})
        self.assertEqual(gone, [max(before.values())])
        self.assertTrue(all(task >= 0 for task in by_key(planned, "task").values()), "relatives are known to the task")
        self.assertEqual(len(by_key(planned, "parts")["/a"]), 1, "but they are not read")

    def test_only_what_changed_has_news(self):
        known, _ = plan(files([{"key": "/a"}, {"key": "/b"}, {"key": "/c"}]), 100, 1_000, 1)
        listed = pa.Table.from_pylist(
            [
                {"key": "/a", "root": "/logs", "home": None, "packed": False, "size": 10, "mtime_ns": 1, "host": "ada"},
                {"key": "/b", "root": "/logs", "home": None, "packed": False, "size": 11, "mtime_ns": 1, "host": "ada"},
                {"key": "/d", "root": "/logs", "home": None, "packed": False, "size": 10, "mtime_ns": 1, "host": "ada"},
            ],
            schema=LISTED,
        )
        news = compare(listed, known)
        self.assertEqual(news.new["key"].to_pylist(), ["/d"])
        self.assertEqual(known["key"].take(pa.array(news.known_rows)).to_pylist(), ["/b"])
        heads = pa.table({"key": ["/d", "/b"], "group": [7, 1], "ties": [[1], [2]]}, schema=HEADS)
        now = joined(news, listed, known, heads)
        self.assertEqual(by_key(now, "gone"), {"/a": False, "/b": False, "/c": True, "/d": False})
        self.assertEqual(by_key(now, "task"), {"/a": -1, "/b": 0, "/c": -1, "/d": 0})
        self.assertEqual(by_key(now, "size"), {"/a": 10, "/b": 11, "/c": 10, "/d": 10})
        self.assertEqual(by_key(now, "ties"), {"/a": [], "/b": [2], "/c": [], "/d": [1]})
        # what couldn't be looked at is looked at again
        now = joined(news, listed, known, heads.slice(0, 0))
        self.assertEqual(by_key(now, "size"), {"/a": 10, "/b": 10, "/c": 10})

    def test_names_are_found_in_whatever_pieces_they_are_looked_for(self):
        of = pa.chunked_array([[f"log-{n}" for n in range(5)], [f"log-{n}" for n in range(5, 10)]])
        values = pa.chunked_array([["log-9", "nowhere"], ["log-0", "log-4", "log-3"]])
        for at_once in (1, 3, 5, 100):
            with mock.patch.object(planning, "NAMES_AT_ONCE", at_once):
                self.assertEqual(planning.positions(values, of).tolist(), [9, -1, 0, 4, 3])
        self.assertEqual(planning.positions(values, of[:0]).tolist(), [-1] * 5)

    def test_a_component_is_in_one_bucket(self):
        self.assertEqual({bucket_of("c0ffee", 16) for _ in range(3)}, {name_hash("c0ffee") % 16})
        spread = {bucket_of(f"{n:016x}", 16) for n in range(200)}
        self.assertEqual(spread, set(range(16)))

    def test_an_empty_listing_is_no_plan(self):
        planned, gone = plan(FILES.empty_table(), 100, 100, 1)
        self.assertEqual((planned.num_rows, gone), (0, []))
        self.assertEqual(pc.sum(planned["size"]).as_py(), None)


if __name__ == "__main__":
    unittest.main()
