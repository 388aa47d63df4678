"""Tables of components put together, without Spark and without the program."""

import tempfile
import unittest
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from sessionmill_spark.lake import Lake
from sessionmill_spark.tables import file_name, write_bucket


def component(folder, table, month, values):
    path = Path(folder) / table / f"month={month}"
    path.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table({"x": pa.array(values, pa.int64())}), path / "part-000.parquet")


class Tables(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.lake = Lake(f"{self.folder.name}/lake")

    def made(self, name, **months):
        folder = Path(self.folder.name) / "made" / name
        for month, values in months.items():
            component(folder, "sessions", month.strip("m").replace("_", "-"), values)
        return folder

    def rows(self):
        found = ds.dataset(f"{self.lake.uri}/tables/sessions", format="parquet", partitioning="hive").to_table()
        return sorted(zip(map(str, found["month"].to_pylist()), found["x"].to_pylist()))

    def held(self):
        return self.lake.names("tables")

    def test_rows_of_a_component_are_replaced_and_others_stay(self):
        write_bucket(self.lake, 3, {"a": self.made("a", m2026_01=[1, 2]), "b": self.made("b", m2026_01=[3])}, set(), [])
        self.assertEqual(self.rows(), [("2026-01", 1), ("2026-01", 2), ("2026-01", 3)])
        again = {"a": self.made("a2", m2026_01=[7], m2026_02=[8])}
        for _ in range(2):
            # an attempt that is made twice changes nothing
            write_bucket(self.lake, 3, again, set(), self.held())
            self.assertEqual(self.rows(), [("2026-01", 3), ("2026-01", 7), ("2026-02", 8)])

    def test_what_a_component_no_longer_has_goes(self):
        write_bucket(self.lake, 0, {"a": self.made("a", m2026_01=[1]), "b": self.made("b", m2026_02=[2])}, set(), [])
        write_bucket(self.lake, 0, {"a": self.made("a2", m2026_02=[3])}, set(), self.held())
        self.assertEqual(self.rows(), [("2026-02", 2), ("2026-02", 3)])
        self.assertEqual(self.held(), [file_name("sessions", "month=2026-02", 0)], "an empty file goes")
        write_bucket(self.lake, 0, {}, {"b"}, self.held())
        self.assertEqual(self.rows(), [("2026-02", 3)])

    def test_a_table_without_rows_has_its_columns(self):
        write_bucket(self.lake, 0, {"a": self.made("a", none=[])}, set(), [])
        self.assertEqual(self.held(), [file_name("sessions", "month=none", 0)])
        self.assertEqual(self.rows(), [])

    def test_what_is_written_in_part_is_not_there(self):
        with self.assertRaises(ValueError), self.lake.writing("tables/x") as stream:
            stream.write(b"half")
            raise ValueError
        self.assertEqual(self.lake.names(""), [])


if __name__ == "__main__":
    unittest.main()
