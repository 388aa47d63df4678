"""What comes of files through the program: rows as the lines say them, and what a program says that fails."""

import json
import subprocess
import tempfile
import unittest
from pathlib import Path

import local
from sessionmill_spark.mill import LINES, Mill, MillError, gathered


class Program(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="sessionmill-test-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def script(self, text: str) -> Mill:
        program = self.folder / "program"
        program.write_text(f"#!/bin/sh\n{text}\n")
        program.chmod(0o755)
        return Mill(str(program), local.HOST)

    def test_rows_are_the_lines_that_the_program_prints(self):
        logs = sorted(local.homes()[0].rglob("*.jsonl"))
        mill = Mill(local.program(), local.HOST, now=local.NOW)
        batches = list(mill.lines([{"path": str(log)} for log in logs], 1, self.folder))
        words = [*mill.arguments("transform", self.folder, False), "--run", "1"]
        names = "\n".join(map(str, logs))
        printed = subprocess.run(words, input=names, capture_output=True, text=True, check=True).stdout
        wanted = [(line.encode(), json.loads(line)) for line in printed.splitlines()[1:]]
        self.assertGreater(len(wanted), 20)
        (rows,) = gathered(batches)
        self.assertEqual(rows.schema, LINES)
        self.assertEqual(rows["line"].to_pylist(), [line for line, _ in wanted])
        self.assertEqual(rows["kind"].to_pylist(), [value["type"] for _, value in wanted])
        self.assertEqual(rows["file"].to_pylist(), [value.get("step", value)["file"] for _, value in wanted])

    def test_a_program_that_fails_is_quoted(self):
        for text in ("echo 'error: the disk is full' >&2; exit 1", "echo cut; echo 'error: the disk is full' >&2; exit 1"):
            with self.assertRaisesRegex(MillError, "ended with 1: error: the disk is full"):
                list(self.script(text).lines([], 0, self.folder))
            with self.assertRaisesRegex(MillError, "ended with 1"):
                list(self.script(text.replace("echo cut;", "")).told([], "heads", self.folder))

    def test_who_stops_reading_leaves_no_program_behind(self):
        mill = self.script("""echo $$ > "$0.id"; while :; do echo '{"type":"head"}'; done""")
        told = mill.told([], "heads", self.folder)
        self.assertEqual(next(told)["type"], "head")
        told.close()
        process = int((self.folder / "program.id").read_text())
        self.assertFalse(Path(f"/proc/{process}").exists(), "it ended")


if __name__ == "__main__":
    unittest.main()
