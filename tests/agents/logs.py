"""Reads the agents' logs for itself, with nothing of sessionmill's: how many lines each has, which
sessions there are, and which kinds of lines."""
import collections
import json
import pathlib
import shutil
import sqlite3
import tempfile


def files(home):
    claude = [p for p in sorted((home / ".claude" / "projects").rglob("*.jsonl")) if p.stem != "journal"]
    codex = sorted((home / ".codex" / "sessions").rglob("rollout-*.jsonl"))
    gemini = sorted((home / ".gemini" / "tmp").glob("*/chats/**/*.jsonl"))
    qwen = sorted((home / ".qwen" / "projects").glob("*/chats/*.jsonl"))
    qwen += sorted((home / ".qwen" / "projects").glob("*/subagents/*/agent-*.jsonl"))
    return {"claude": claude, "codex": codex, "gemini": gemini, "qwen": qwen}


def lines(path):
    """Its complete lines."""
    data = path.read_bytes()
    return data[:data.rfind(b"\n") + 1].count(b"\n")


def claude_sessions(home):
    """Ids of the conversations that people began, with the time at which the log was."""
    return {p.stem: first_time(p) for p in files(home)["claude"] if "subagents" not in p.parts}


def codex_sessions(home):
    """Ids of the threads that people began, with the name of the rollout: its time and id."""
    found = {}
    for path in files(home)["codex"]:
        with path.open() as log:
            meta = json.loads(log.readline())["payload"]
        if not isinstance(meta.get("source"), dict):  # a helper's names its parent there
            found[meta["id"]] = path.name
    return found


def gemini_sessions(home):
    """Ids of the chats that people began, with the time at which each was."""
    found = {}
    for path in files(home)["gemini"]:
        with path.open() as log:
            head = json.loads(log.readline())
        if head["kind"] == "main":
            found[head["sessionId"]] = head["startTime"]
    return found


def qwen_sessions(home):
    """Ids of the chats that people began, with the time at which each was."""
    return {p.stem: first_time(p) for p in files(home)["qwen"] if p.parent.name == "chats"}


def opencode(home, question):
    """An answer of OpenCode's database, of which a copy is asked."""
    database = home / ".local" / "share" / "opencode" / "opencode.db"
    with tempfile.TemporaryDirectory() as folder:
        for end in ("", "-wal"):
            file = database.with_name(database.name + end)
            if file.exists():
                shutil.copy(file, folder)
        with sqlite3.connect(pathlib.Path(folder) / database.name) as copy:
            return copy.execute(question).fetchall()


def opencode_sessions(home):
    """Ids of the sessions that people began, with the time at which each was."""
    return dict(opencode(home, "SELECT id, time_created FROM session WHERE parent_id IS NULL"))


def opencode_events(home):
    return opencode(home, "SELECT count(*) FROM event")[0][0]


def first_time(path):
    with path.open() as log:
        times = [v["timestamp"] for v in map(json.loads, log) if "timestamp" in v]
    return min(times, default="")


def kinds(home):
    """How often each kind of line stands in the logs: `attachment/date`, `event_msg/token_count`."""
    counts = collections.Counter()
    for agent, paths in files(home).items():
        for path in paths:
            for line in path.open():
                try:
                    value = json.loads(line)
                except ValueError:
                    counts[f"{agent}: torn"] += 1
                    continue
                if agent == "gemini":
                    counts[f"gemini: {value.get('type') or sorted(value)[0]}"] += 1
                    continue
                inner = value.get("attachment") or value.get("payload") or {}
                inner = inner.get("type") if isinstance(inner, dict) else None
                inner = inner or value.get("subtype") or value.get("operation")
                counts[f"{agent}: {value.get('type')}{'/' + inner if inner else ''}"] += 1
    return counts
