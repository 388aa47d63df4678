"""Tables that Spark makes are those of a local run, however the work is divided, killed or continued."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

import local
from sessionmill_spark.job import MANIFEST, Options, run
from sessionmill_spark.lake import Lake
from sessionmill_spark.listing import machines
from sessionmill_spark.mill import Mill, packed

# A session of the project's own home that another one was forked into.
FORK = "6b1f0a34-5c0e-4b57-9d3e-2f9a51c7e006"
SPARK = None


def setUpModule():
    global SPARK
    SPARK = local.spark()


def tearDownModule():
    SPARK.stop()


class Engine(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="sessionmill-test-")
        self.addCleanup(self.folder.cleanup)
        self.maxDiff = None

    def home(self, of: Path | None = None, name: str = "home") -> Path:
        return local.copied(of or local.homes()[0], Path(self.folder.name).resolve() / name)

    def options(self, home: Path, lake: str, **more) -> Options:
        mill = Mill(local.program(), local.HOST, now=local.NOW, settings=packed(str(home / ".graphiti")))
        told = {"partition_bytes": 64 << 10, "buckets": 4, **more}
        return Options(Lake(lake), machines([str(home)], {}, local.HOST), mill, **told)

    def assertSameRows(self, lake, tables: Path):
        difference = local.first_difference(local.rows(lake), local.rows(tables))
        self.assertIsNone(difference, difference)

    def test_rows_are_those_of_a_local_run_with_4_partitions_or_40(self):
        for nth, of in enumerate(local.homes()):
            home = self.home(of, f"home-{nth}")
            tables = local.backfilled(home)
            self.assertGreater(sum(len(rows) for _, rows in local.rows(tables).values()), 100)
            total = sum(path.stat().st_size for path in home.rglob("*.jsonl"))
            for partitions in (4, 40):
                lake = f"{self.folder.name}/lake-{nth}-{partitions}"
                options = self.options(home, lake, partition_bytes=max(total // partitions, 1), partitions=partitions)
                done = run(SPARK, options)
                self.assertEqual(done["problems"], [])
                self.assertSameRows(f"{lake}/tables", tables)
            self.assertEqual(run(SPARK, options)["runs"], 0, "again is nothing")

    def test_spark_reads_an_export_and_its_own_tables(self):
        home = self.home()
        tables = local.backfilled(home)
        lake = f"{self.folder.name}/lake"
        run(SPARK, self.options(home, lake))
        for name, (_, rows) in local.rows(tables).items():
            for folder in (tables, f"{lake}/tables"):
                self.assertEqual(SPARK.read.parquet(f"{folder}/{name}").count(), len(rows), f"{folder}/{name}")
        SPARK.read.parquet(f"{lake}/tables/commands").createOrReplaceTempView("commands")
        (row,) = SPARK.sql("SELECT count(*) AS runs, count_if(failed) AS failed FROM commands").collect()
        self.assertGreater(row["runs"], row["failed"])

    def test_logs_that_grow_in_three_steps_come_to_the_same_and_only_what_grew_is_read(self):
        whole = self.home(local.homes()[-1], "whole")
        growing = Path(self.folder.name).resolve() / "home"
        lake = f"{self.folder.name}/lake"
        logs = sorted(whole.rglob("*.jsonl"))
        read = []
        local.backfilled(self.home(None, "settings"))
        for share in (0.3, 0.6, 1.0):
            # a fork is made of what its origin has already; one that says nothing of its own yet is told by nothing
            for log in [log for log in logs if share == 1.0 or log.stem != FORK]:
                target = growing / log.relative_to(whole)
                content = log.read_bytes()
                end = content.find(b"\n", int(len(content) * share)) + 1 if share < 1 else len(content)
                target.parent.mkdir(parents=True, exist_ok=True)
                with open(target, "ab") as file:
                    file.write(content[file.tell():end or len(content)])
            settings = growing / ".graphiti"
            settings.mkdir(exist_ok=True)
            (settings / "graphiti.config.json").write_text(json.dumps(local.SETTINGS))
            key = Path(self.folder.name) / "settings/.graphiti/redact.key"
            shutil.copy(key, settings / "redact.key")
            done = run(SPARK, self.options(growing, lake))
            self.assertEqual(done["runs"], 1)
            read.append((done["bytes"], self.read_by_a_local_run(growing)))
        for spark, one_machine in read:
            self.assertLessEqual(spark, one_machine)
        self.assertSameRows(f"{lake}/tables", local.backfilled(growing))

    def read_by_a_local_run(self, growing: Path) -> int:
        """Bytes of news that a run on one machine reads, which goes on where its last one stopped."""
        beside = local.copied(growing, Path(self.folder.name).resolve() / "beside")
        settings = beside / ".graphiti/graphiti.config.json"
        settings.parent.mkdir(exist_ok=True)
        settings.write_text(json.dumps(local.SETTINGS))
        return json.loads(local.sessionmill(beside, "run", "--json"))["bytes_read"]

    def test_a_run_whose_executor_is_killed_comes_to_the_same(self):
        home = self.home(local.homes()[-1])
        tables = local.backfilled(home)
        lake = f"{self.folder.name}/lake"
        total = sum(path.stat().st_size for path in home.rglob("*.jsonl"))
        options = self.options(home, lake, partition_bytes=max(total // 30, 1))
        killed = []

        def kill():
            deadline = time.monotonic() + 120
            while time.monotonic() < deadline and not killed:
                if len(list(Path(lake).glob("state/lines/*/*.parquet"))) >= 2:
                    killed.append(local.kill_an_executor())
                time.sleep(0.02)

        thread = threading.Thread(target=kill)
        thread.start()
        done = run(SPARK, options)
        thread.join()
        self.assertTrue(killed and killed[0], "an executor was killed")
        self.assertEqual(done["problems"], [])
        self.assertSameRows(f"{lake}/tables", tables)

    def test_a_driver_that_dies_between_phases_goes_on(self):
        home = self.home()
        tables = local.backfilled(home)
        from sessionmill_spark import job

        lake = f"{self.folder.name}/lake"
        options = self.options(home, lake)
        held = job._tables

        def dies(*_):
            raise KeyboardInterrupt

        job._tables = dies
        try:
            with self.assertRaises(KeyboardInterrupt):
                run(SPARK, options)
        finally:
            job._tables = held
        self.assertEqual(Lake(lake).read_json(MANIFEST)["phase"], "tables")
        parts = {path: path.stat().st_mtime_ns for path in Path(lake).glob("state/lines/*/*.parquet")}
        done = run(SPARK, options)
        self.assertEqual((done["runs"], done["files"]), (1, 0), "what was read is not read again")
        self.assertEqual({path: path.stat().st_mtime_ns for path in parts}, parts)
        self.assertSameRows(f"{lake}/tables", tables)

    def test_sessions_that_rest_later_get_their_summaries_then(self):
        home = self.home()
        tables = local.backfilled(home)
        now = time.time()
        for log in home.rglob("*.jsonl*"):
            os.utime(log, (now, now))
        lake = f"{self.folder.name}/lake"
        options = self.options(home, lake)
        # by a clock that is behind the sessions none of them rests
        options.mill.now = "2025-07-01T00:00:00Z"
        self.assertEqual(run(SPARK, options)["runs"], 1)
        self.assertIsNotNone(local.first_difference(local.rows(f"{lake}/tables"), local.rows(tables)))
        options.mill.now = local.NOW
        done = run(SPARK, options)
        self.assertEqual((done["runs"], done["files"]), (1, 0), "no log is read again")
        self.assertSameRows(f"{lake}/tables", tables)

    def test_a_family_that_is_divided_by_records_comes_to_the_same(self):
        home = self.home(local.homes()[-1])
        tables = local.backfilled(home)
        lake = f"{self.folder.name}/lake"
        run(SPARK, self.options(home, lake, partition_bytes=4 << 10, split_bytes=1))
        self.assertTrue(list(Path(lake).glob("state/ids/*/*/taken.parquet")), "families were divided")
        self.assertSameRows(f"{lake}/tables", tables)

    def test_the_command_line_reads_and_says_what_it_did(self):
        home = self.home()
        local.backfilled(home)
        lake = f"{self.folder.name}/lake"
        words = [sys.executable, "-m", "sessionmill_spark", str(home), "--out", lake, "--program", local.program()]
        environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"}
        environment["PYSPARK_SUBMIT_ARGS"] = "--master local[1] --driver-memory 512m --conf spark.ui.enabled=false pyspark-shell"
        done = subprocess.run(words, capture_output=True, text=True, env=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"read \d+ logs, .* MB; wrote \d+ rows of \d+ components")


if __name__ == "__main__":
    unittest.main()
