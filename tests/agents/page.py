"""docs/agents.md: which agents were tried, when, and how it went."""
import json
import pathlib

HERE = pathlib.Path(__file__).parent
HEAD = """# Tested agents

`make test-agents` installs the agents from npm, lets them work in temporary homes with a scripted model on this machine, and checks independently what is stored. It writes this page. `AGENTS=latest make test-agents` takes the newest versions instead of those in `tests/agents/versions.json`.

| agent | package | version | tested on | result |
| --- | --- | --- | --- | --- |
"""


def version(agents, package):
    file = agents / "node_modules" / package / "package.json"
    return json.loads(file.read_text())["version"]


def write(bench, agents, document, day):
    """What a check is of stands before its colon; the others are of all agents."""
    names = json.loads((HERE / "versions.json").read_text())
    text = HEAD
    for agent, npm in names.items():
        others = tuple(f"{other}:" for other in names if other != agent)
        failed = [name for name in bench.failed if not name.startswith(others)]
        result = "all checks passed" if not failed else f"{len(failed)} check{'' if len(failed) == 1 else 's'} failed"
        text += f"| {agent} | `{npm['package']}` | {version(agents, npm['package'])} | {day} | {result} |\n"
    text += "\n| figure | |\n| --- | --- |\n"
    text += "".join(f"| {name} | {value} |\n" for name, value in bench.figures.items())
    text += f"\n## What was checked\n\n{bench.passed + len(bench.failed)} checks:\n\n"
    seen = {}
    for name, ok in bench.checks:
        seen[name] = seen.get(name, True) and ok
    text += "".join(f"- {name}{'' if ok else ': **failed**'}\n" for name, ok in seen.items())
    pathlib.Path(document).write_text(text)
