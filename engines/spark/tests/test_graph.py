"""Episodes of many machines in one real FalkorDB: none is lost, none is there twice. Needs FALKORDB_BIN."""

import json
import os
import socket
import subprocess
import tempfile
import threading
import time
import unittest
from collections import Counter
from pathlib import Path

import local
from sessionmill_spark.job import Options, run
from sessionmill_spark.lake import Lake
from sessionmill_spark.listing import Machine, machines
from sessionmill_spark.mill import Mill, Sink, packed

BIN = os.environ.get("FALKORDB_BIN")


class Falkor:
    """A server of a test's own on loopback."""

    def __init__(self, folder: Path):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        words = [f"{BIN}/redis-server", "--bind", "127.0.0.1", "--port", str(self.port), "--save", "", "--dir", str(folder)]
        words += ["--loadmodule", f"{BIN}/falkordb.so"]
        self.process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(200):
            try:
                if self.ask("PING") == "PONG":
                    return
            except OSError:
                time.sleep(0.05)
        raise AssertionError("FalkorDB doesn't answer")

    def stop(self):
        self.process.kill()
        self.process.wait()

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}"

    def ask(self, *words: str):
        """One command of Redis' protocol."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=30) as connection:
            request = f"*{len(words)}\r\n" + "".join(f"${len(w.encode())}\r\n{w}\r\n" for w in words)
            connection.sendall(request.encode())
            with connection.makefile("rb") as stream:
                return self._answer(stream)

    def _answer(self, stream):
        line = stream.readline().rstrip(b"\r\n")
        kind, rest = line[:1], line[1:].decode()
        if kind == b"-":
            raise AssertionError(rest)
        if kind == b":":
            return int(rest)
        if kind == b"$":
            length = int(rest)
            return None if length < 0 else stream.read(length + 2)[:-2].decode()
        if kind == b"*":
            return [self._answer(stream) for _ in range(int(rest))]
        return rest

    def episodes(self) -> Counter:
        """How often each episode is there, by graph."""
        found: Counter = Counter()
        for graph in self.ask("GRAPH.LIST"):
            rows = self.ask("GRAPH.QUERY", graph, "MATCH (e:Episodic) RETURN e.uuid")[1]
            found.update((graph, row[0]) for row in rows)
        return found


def agreement(falkor: Falkor) -> str:
    """What the program wants to be told before it sends anything, here to a server of the test's own."""
    return f"I understand this sends what my session logs say to {falkor.url}"


def settings(falkor: Falkor) -> dict:
    return {
        "version": "2.0.0",
        "session_tracking": {"enabled": True},
        "graphiti": {"enabled": True, "consent": True},
        "sinks": {"graph": {"kind": "falkordb", "url": falkor.url}},
    }


@unittest.skipUnless(BIN, "FALKORDB_BIN is not set: no FalkorDB")
class Graph(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="sessionmill-test-")
        self.addCleanup(self.folder.cleanup)
        self.falkor = Falkor(Path(self.folder.name))
        self.addCleanup(self.falkor.stop)

    def machine(self, name: str) -> Path:
        """A home whose sessions are its own, but for some that all have."""
        home = local.copied(local.homes()[0], Path(self.folder.name).resolve() / name)
        for log in list(home.rglob("*.jsonl")):
            text = local.renumbered(log.read_bytes(), name)
            log.unlink()
            log = log.with_name(local.renumbered(log.name.encode(), name).decode())
            log.write_bytes(text)
        (home / ".graphiti").mkdir()
        (home / ".graphiti/graphiti.config.json").write_text(json.dumps(settings(self.falkor)))
        return home

    def test_spark_delivers_each_episode_once_and_keeps_receipts(self):
        home = self.machine("ada")
        spark = local.spark()
        self.addCleanup(spark.stop)
        sink = Sink("graph", (agreement(self.falkor),), 2)
        mill = Mill(local.program(), local.HOST, now=local.NOW, settings=packed(str(home / ".graphiti")))
        lake = f"{self.folder.name}/lake"
        options = Options(
            Lake(lake), machines([str(home)], {}, local.HOST), mill, partition_bytes=64 << 10, buckets=4, sink=sink
        )
        done = run(spark, options)
        self.assertEqual(done["problems"], [])
        found = self.falkor.episodes()
        self.assertGreater(len(found), 10)
        self.assertEqual(set(found.values()), {1})
        tables = local.rows(f"{lake}/tables")
        columns, rows = tables["episodes"]
        stored = {row[columns.index("episode_id")].strip("'") for row in rows}
        self.assertEqual(stored - {episode for _, episode in found}, set(), "nothing is lost")
        self.assertEqual(done["receipts"], len(found))
        # a new sink of the manifest's mind: everything is looked at again, nothing is sent twice
        manifest = Lake(lake).read_json("state/manifest.json")
        Lake(lake).write_json("state/manifest.json", {**manifest, "sink": None})
        again = run(spark, options)
        self.assertEqual(again["receipts"], done["receipts"])
        self.assertEqual(self.falkor.episodes(), found)

    def test_an_executor_that_is_killed_while_it_delivers_loses_nothing_and_sends_nothing_twice(self):
        names = ["ada", "ben", "cleo", "dan"]
        homes = [self.machine(name) for name in names]
        spark = local.spark()
        self.addCleanup(spark.stop)
        mill = Mill(local.program(), local.HOST, now=local.NOW, settings=packed(str(homes[0] / ".graphiti")))
        lake = f"{self.folder.name}/lake"
        options = Options(
            Lake(lake), [Machine(str(home), name) for home, name in zip(homes, names)], mill,
            partition_bytes=1 << 20, buckets=8, sink=Sink("graph", (agreement(self.falkor),), 2),
        )
        killed, there = [], []

        def kill():
            deadline = time.monotonic() + 120
            while time.monotonic() < deadline and not killed:
                if self.falkor.episodes() and Path(lake, "state/receipts").is_dir():
                    # what is on its way now is taken when nobody waits for it any more, and somebody sends it again
                    self.falkor.ask("CLIENT", "PAUSE", "4000", "WRITE")
                    while time.monotonic() < deadline and not killed:
                        if process := local.kill_an_executor("--deliver"):
                            there.append(len(self.falkor.episodes()))
                            killed.append(process)
                        time.sleep(0.02)
                time.sleep(0.02)

        thread = threading.Thread(target=kill)
        thread.start()
        done = run(spark, options)
        thread.join()
        self.assertTrue(killed, "an executor was killed while it delivered")
        self.assertEqual(done["problems"], [])
        found = self.falkor.episodes()
        self.assertGreater(len(found), there[0], "it was killed before all was there")
        self.assertEqual(set(found.values()), {1}, f"none is there twice: {found.most_common(3)}")
        columns, rows = local.rows(f"{lake}/tables")["episodes"]
        stored = {row[columns.index("episode_id")].strip("'") for row in rows}
        self.assertEqual(stored - {episode for _, episode in found}, set(), "none is lost")
        receipts = local.ds.dataset(f"{lake}/state/receipts", format="parquet").to_table()
        self.assertEqual(sorted(receipts["episode"].to_pylist()), sorted(episode for _, episode in found))
        self.assertEqual(len(self.falkor.ask("GRAPH.LIST")), len(names))
        # receipts are believed: nothing is sent again
        manifest = Lake(lake).read_json("state/manifest.json")
        Lake(lake).write_json("state/manifest.json", {**manifest, "sink": None})
        self.assertEqual(run(spark, options)["receipts"], done["receipts"])
        self.assertEqual(self.falkor.episodes(), found)

    def test_many_machines_deliver_into_one_graph_at_once(self):
        names = ["ada", "ben", "cleo", "dan"]
        homes = [self.machine(name) for name in names]
        environments = [{"HOME": str(home), "PATH": os.environ["PATH"]} for home in homes]

        def words(name, *rest):
            return [local.program(), "--now", local.NOW, "--host", name, *rest]

        for name, environment in zip(names, environments):
            subprocess.run(words(name, "consent", "give", self.falkor.url, "--confirm", agreement(self.falkor)), env=environment, check=True,
                           stdout=subprocess.DEVNULL)
        for _ in range(2):
            running = [
                subprocess.Popen(words(name, "backfill"), env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                for name, environment in zip(names, environments)
            ]
            for process in running:
                said, _ = process.communicate()
                self.assertEqual(process.returncode, 0, said.decode())
        found = self.falkor.episodes()
        self.assertEqual(set(found.values()), {1}, f"none is there twice: {found.most_common(3)}")
        landed = 0
        for name, environment in zip(names, environments):
            done = subprocess.run(words(name, "deliver", "verify", "graph", "--json"), env=environment, capture_output=True)
            self.assertEqual(done.returncode, 0, done.stdout.decode() + done.stderr.decode())
            (sink,) = json.loads(done.stdout)["sinks"]
            self.assertEqual((sink["missing"], sink["twice"]), (0, 0))
            landed += sink["landed"]
        self.assertEqual(landed, len(found), "none is lost")
        self.assertEqual(len(self.falkor.ask("GRAPH.LIST")), len(names), "each machine has a group of its own")


if __name__ == "__main__":
    unittest.main()
