"""What has to be in the store when the agents are done."""
import collections
import json
import re

import logs


def sessions(b, store=None):
    return {s["id"]: s for s in b.json("sessions", "--limit", "1000", store=store)["sessions"]}


def whole(b, store=None):
    """Everything that a store tells of sessions, without when it was told."""
    told = {}
    for session in sorted(sessions(b, store)):
        shown = b.json("show", session, store=store)
        for episode in shown["episodes"]:
            episode.pop("indexed_at", None)
        told[session] = shown
    return told


def delivered(b):
    """The texts that the model said, with how often."""
    scenes = {s["when"]: s["turns"] for s in b.script.scenes}
    texts = collections.Counter()
    for request in b.script.requests:
        when, _, n = request["note"].rpartition("#")
        turn = scenes[when][int(n)] if when in scenes else {}
        if "text" in turn:
            texts[turn["text"]] += 1
    return texts


def once_each(b, told):
    """Each prompt, and each thing that the model said, in one place of all episodes."""
    text = "\n".join(e["text"] for s in told.values() for e in s["episodes"])
    flat = re.sub(r"\s+", " ", text)
    typed = collections.Counter(b.said)
    told_by = {p: len(re.findall(rf"User: {re.escape(p)}$", text, re.M)) for p in typed}
    wrong = [f"{p!r} {n} times of {typed[p]}" for p, n in told_by.items() if n != typed[p]]
    b.check(f"each of {len(b.said)} prompts is stored once", not wrong, wrong)
    said = delivered(b)
    said = {t: n for t, n in said.items() if not t.startswith("Roses")}  # stopped in mid-sentence
    wrong = [f"{t!r} {flat.count(t)} times of {n}" for t, n in said.items() if flat.count(t) != n]
    b.check(f"each of {sum(said.values())} answers is stored once", not wrong, wrong)


def look(b, busy):
    b.json("run")
    told = whole(b)
    once_each(b, told)
    lines(b)
    found = {id: s["session"] for id, s in told.items()}
    names = b.names
    branch = [("claude: /branch", "@BRANCH@", "@TERMINAL@")] if b.has_tmux else []
    for what, fork, origin in [("claude: --fork-session", "@C2@", "@C1@"), ("codex: fork", "@X2@", "@X1@"),
                               ("qwen: --fork-session", "@Q2@", "@Q1@"), ("opencode: --fork", "@O2@", "@O1@"), *branch]:
        got = {n: found.get(names.get(n), {}).get("forked_from") for n in (fork, origin)}
        b.check(f"{what} makes a fork that names its origin, which is no fork itself",
                got == {fork: names.get(origin), origin: None}, got)
    people = logs.claude_sessions(b.home).keys()
    missing = people - found.keys()
    b.check(f"all {len(people)} sessions of Claude Code are there", not missing, missing)
    missing = logs.codex_sessions(b.home).keys() - found.keys()
    b.check("all sessions of Codex are there", not missing, missing)
    missing = logs.gemini_sessions(b.home).keys() - found.keys()
    b.check("all sessions of Gemini CLI are there", not missing, missing)
    missing = logs.qwen_sessions(b.home).keys() - found.keys()
    b.check("all sessions of Qwen Code are there", not missing, missing)
    missing = logs.opencode_sessions(b.home).keys() - found.keys()
    b.check("all sessions of OpenCode are there", not missing, missing)
    homes = {str(folder) for folder in b.folders}
    strange = {s["project_path"] for s in found.values()} - homes
    b.check("each session is of its project", not strange, strange)
    untitled = [id for id, s in found.items() if not s["title"]]
    b.check("each session has a title", not untitled, untitled)
    outcomes(b, found)
    b.check("a run while the agents work never fails", busy.runs > 3 and not busy.bad, busy.bad[:2])
    b.mill("run", store="busy")
    same(b, told, whole(b, "busy"), "runs while the agents worked")
    compacted = ["@C1@", "@X1@", "@OSERVED@"] + (["@GTERMINAL@", "@QTERMINAL@"] if b.has_tmux else [])
    folded = {n: found.get(names.get(n), {}).get("compactions") for n in compacted}
    b.check("compactions are counted", set(folded.values()) == {1}, folded)
    streams = {id: [e["stream"] for e in s["episodes"] if e["stream"]] for id, s in told.items()}
    for agent, name in (("claude", "@HELPED@"), ("codex", "@XHELPED@"), ("gemini", "@GHELPED@"),
                        ("qwen", "@QHELPED@"), ("opencode", "@OHELPED@")):
        b.check(f"{agent}: a sub-agent's turns are a stream of the session", streams.get(names.get(name)), streams)


def same(b, one, other, what):
    differ = [id for id in one.keys() | other.keys() if one.get(id) != other.get(id)]
    where = ""
    for id in differ[:1]:
        a, c = (json.dumps(x.get(id), indent=1).splitlines() for x in (one, other))
        where = next((f"{id}: {p} / {q}" for p, q in zip(a, c) if p != q), f"{id}: one is longer")
    b.check(f"{what} make the store that one run makes", not differ, where)


def lines(b):
    """Every line of every log has a fate, and none is unknown or refused."""
    status = b.json("status")
    ledger = status["ledger"]
    fates = {fate: sum(reasons.values()) for fate, reasons in ledger["lines"].items()}
    counted = sum(logs.lines(p) for paths in logs.files(b.home).values() for p in paths)
    counted += logs.opencode_events(b.home)
    torn = ledger["pending"]
    b.check("all lines of the logs are accounted for", sum(fates.values()) + torn in (counted, counted + torn),
            f"{fates}, pending {torn}, of {counted}")
    unknown = {u.get("kind") or u.get("name"): u.get("count") for u in status["unknown"]}
    b.check("no line is of an unknown kind", fates.get("unknown", 0) == 0 and not unknown, unknown)
    b.check("no line is rejected", fates.get("rejected", 0) == 0, ledger["lines"].get("rejected"))


def outcomes(b, found):
    def outcome(name):
        return found.get(b.names.get(name), {}).get("outcome")
    b.check("a finished session is completed", outcome("@C1@") == "completed", outcome("@C1@"))
    b.check("a finished session of Codex is completed", outcome("@X1@") == "completed", outcome("@X1@"))
    b.check("a finished session of Gemini CLI is completed", outcome("@G1@") == "completed", outcome("@G1@"))
    b.check("a finished session of Qwen Code is completed", outcome("@Q1@") == "completed", outcome("@Q1@"))
    b.check("a finished session of OpenCode is completed", outcome("@O1@") == "completed", outcome("@O1@"))
    b.check("opencode: a session that was stopped is interrupted", outcome("@OSTOPPED@") == "interrupted", outcome("@OSTOPPED@"))
    for agent, name in (("claude", "@KILLED@"), ("codex", "@XKILLED@"), ("qwen", "@QKILLED@"), ("opencode", "@OKILLED@")):
        b.check(f"{agent}: a killed session is not completed", outcome(name) != "completed", outcome(name))
    if b.has_tmux:
        b.check("a session stopped with Esc is interrupted", outcome("@BRANCH@") == "interrupted", outcome("@BRANCH@"))


def nothing_lost(b):
    """After hooks, servers and the plugin were at work, too."""
    b.json("run")
    lines(b)
    once_each(b, whole(b))
