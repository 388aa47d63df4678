"""Hooks, the MCP server and the plugin inside the real agents: what reaches the model, and what is left
behind when they are taken out again."""
import json
import pathlib
import re
import statistics

HERE = pathlib.Path(__file__).parent
EACH = ["--agent", "claude", "--agent", "codex", "--agent", "gemini", "--agent", "qwen", "--agent", "opencode"]
ASK = "Please tell me about the fetch retries: why four attempts and not more?"


def requests(b, before):
    asked = [r for r in b.script.requests[before:] if r["note"] != "aside"]
    return json.dumps([r["body"] for r in asked], ensure_ascii=False)


def files(b):
    """The agents' settings, byte for byte."""
    names = [".claude/settings.json", ".codex/hooks.json", ".codex/config.toml", ".gemini/settings.json",
             ".qwen/settings.json", ".config/opencode/opencode.json", ".config/opencode/plugins/sessionmill.js"]
    return {n: (b.home / n).read_bytes() if (b.home / n).exists() else None for n in names}


def servers_of(b):
    return json.loads((b.home / ".claude.json").read_text()).get("mcpServers", {})


def blocks(b, before):
    """Blocks of memory in the last request since: one of the session's start, one of the prompt."""
    asked = [r for r in b.script.requests[before:] if r["note"].startswith("tell me")]
    text = json.dumps(asked[-1]["body"]) if asked else ""
    return re.findall(r"<graphiti_memory>.*?</graphiti_memory>", text)


def once(found):
    return bool(found) and len(set(found)) == len(found) <= 2


def waited(b):
    """Milliseconds that Claude Code waited for the hooks, by its own logs."""
    for path in (b.home / ".claude" / "projects").rglob("*.jsonl"):
        for line in path.read_text().splitlines():
            ran = json.loads(line).get("attachment", {}) if '"hook_success"' in line else {}
            if ran.get("exitCode") == 0 and "recall --hook" in ran.get("command", ""):
                yield ran["durationMs"]


def hooks(b):
    settings = b.home / ".claude" / "settings.json"
    settings.write_text('{\n    "cleanupPeriodDays": 99999,\n  "env": {"FOO": "1"}\n}')
    before = files(b)
    done = b.mill("hooks", "install", *EACH)
    b.check("hooks are installed", done.returncode == 0, done.stderr)
    try:
        recalled(b)
    finally:  # the parts behind this one have hooks of their own
        done = b.mill("hooks", "remove")
        b.check("hooks are removed, and every byte is as before", files(b) == before, done.stderr)


def recalled(b):
    """By each agent, once; and what Claude Code waited for it."""
    n = len(b.script.requests)
    b.claude(ASK)
    told = requests(b, n)
    b.check("claude: recall reaches the model with its reason", "<graphiti_memory>" in told and "gateway" in told, told[-400:])
    n = len(b.script.requests)
    b.codex("--skip-git-repo-check", "--dangerously-bypass-hook-trust",
            "Could you tell me about the fetch retries and the fixed rates?")
    told = requests(b, n)
    b.check("codex: recall reaches the model", "<graphiti_memory>" in told, told[-400:])
    n = len(b.script.requests)
    b.gemini("Please remind me of the stock counter: why a floor of zero?")
    told = requests(b, n)
    b.check("gemini: recall reaches the model with its reason", "graphiti_memory" in told and "auditors" in told, told[-400:])
    n = len(b.script.requests)
    b.qwen("Please remind me of the hay ledger: why is hay weighed twice?")
    told = requests(b, n)
    b.check("qwen: recall reaches the model with its reason", "graphiti_memory" in told and "drifts" in told, told[-400:])
    n = len(b.script.requests)
    b.opencode("Please remind me of the tide table: why is the tide read twice?")
    told = requests(b, n)
    b.check("opencode: recall reaches the model with its reason", "graphiti_memory" in told and "buoy" in told, told[-400:])
    for _ in range(4):
        b.claude(ASK)
    b.figures["how long Claude Code waits for a hook (median)"] = f"{statistics.median(waited(b)):.0f} ms"
    program = b.bin / "sessionmill"
    program.rename(b.bin / "away")
    try:
        b.claude("Please tell me about the fetch retries without a program")
    finally:
        (b.bin / "away").rename(program)


def results(b, before):
    """Calls of our tools in the last request, and those that have a result: {tool: is an error}."""
    asked = [r for r in b.script.requests[before:] if "memory tools" in r["note"]]
    calls, ended = {}, {}
    body = asked[-1]["body"] if asked else {}
    for message in body.get("messages", []):
        for block in message["content"] if isinstance(message["content"], list) else []:
            if block["type"] == "tool_use" and "sessionmill__" in block["name"]:
                calls[block["id"]] = block["name"].split("__")[-1]
            if block["type"] == "tool_result" and block["tool_use_id"] in calls:
                ended[calls[block["tool_use_id"]]] = bool(block.get("is_error"))
    for part in (part for content in body.get("contents", []) for part in content["parts"]):
        call, answer = part.get("functionCall"), part.get("functionResponse")
        if call and "sessionmill_" in call["name"]:
            calls[call["id"]] = call["name"].split("sessionmill_")[-1]
        if answer and answer.get("id") in calls:
            ended[calls[answer["id"]]] = "error" in answer["response"]
    for message in body.get("messages", []) if body.get("tools") and asked[-1]["api"] == "chat" else []:
        for call in message.get("tool_calls") or []:
            if "sessionmill_" in call["function"]["name"]:
                calls[call["id"]] = call["function"]["name"].split("sessionmill_")[-1].lstrip("_")
        if message["role"] == "tool" and message["tool_call_id"] in calls:
            ended[calls[message["tool_call_id"]]] = "reported tool error" in json.dumps(message["content"])
    for item in body.get("input", []):
        if item.get("type") == "function_call" and "sessionmill" in (item.get("namespace") or ""):
            calls[item["call_id"]] = item["name"]
        if item.get("type") == "function_call_output" and item["call_id"] in calls:
            text = json.dumps(item["output"])
            ended[calls[item["call_id"]]] = "unsupported call" in text or "tool call failed" in text
    return calls, ended


def every_tool(b, agent, before):
    wanted = {name.split("@")[-1] for scene in b.script.scenes if scene["when"].startswith("Load the memory")
              for turn in scene["turns"] for tool in turn.get("tools", []) for name in tool if "@M@" in name}
    calls, ended = results(b, before)
    missing = wanted - ended.keys()
    b.check(f"{agent}: each of {len(wanted)} tools is called and answers", not missing, missing)
    failed = [tool for tool, error in ended.items() if error]
    b.check(f"{agent}: no call fails", not failed, failed)


def servers(b):
    before = files(b)
    done = b.mill("mcp", "install", *EACH)
    b.check("the MCP server is installed", done.returncode == 0, done.stderr)
    for folder in b.folders:
        done = b.mill("track", "add", str(folder), "--include", "*.md")
        b.check(f"files of {folder.name} are tracked", done.returncode == 0, done.stderr)
    b.names |= {"@M@": "mcp__sessionmill__", "@HERE@": str(b.project), "@SESSION@": b.names["@C1@"]}
    n = len(b.script.requests)
    b.claude("Load the memory tools and try all of them")
    every_tool(b, "claude", n)
    b.names |= {"@HERE@": str(b.till), "@SESSION@": b.names["@X1@"]}
    n = len(b.script.requests)
    b.codex("--skip-git-repo-check", "Load the memory tools here and try them")
    every_tool(b, "codex", n)
    b.names |= {"@M@": "mcp_sessionmill_", "@HERE@": str(b.shelf), "@SESSION@": b.names["@G1@"]}
    n = len(b.script.requests)
    b.gemini("Try all of the memory tools of the shelf")
    every_tool(b, "gemini", n)
    b.names |= {"@M@": "mcp__sessionmill__", "@HERE@": str(b.barn), "@SESSION@": b.names["@Q1@"]}
    n = len(b.script.requests)
    b.qwen("Try all of the memory tools of the barn")
    every_tool(b, "qwen", n)
    b.names |= {"@M@": "sessionmill_", "@HERE@": str(b.dock), "@SESSION@": b.names["@O1@"]}
    n = len(b.script.requests)
    b.opencode("Try all of the memory tools of the dock")
    every_tool(b, "opencode", n)
    b.mill("mcp", "remove")
    b.check("the MCP server is removed, and every byte is as before",
            files(b) == before and "sessionmill" not in servers_of(b), servers_of(b))


def plugin(b):
    """From a local folder, by the agents' own commands."""
    folder = str(HERE.parent.parent / "plugin")
    for words in (["marketplace", "add", folder], ["install", "sessionmill@sessionmill"]):
        done = b.run(["claude", "plugin", *words])
        b.check(f"claude plugin {words[0]}", done.returncode == 0, done.stdout + done.stderr)
    n = len(b.script.requests)
    b.claude("Please tell me about the fetch retries once more")
    b.check("claude: the plugin's hook brings the memory, once", once(blocks(b, n)), blocks(b, n))
    b.names |= {"@M@": "mcp__plugin_sessionmill_sessionmill__", "@HERE@": str(b.project),
                "@SESSION@": b.names["@C1@"]}
    n = len(b.script.requests)
    b.claude("Load the memory tools of the plugin")
    every_tool(b, "claude, plugin", n)
    n = len(b.script.requests)
    b.claude("/sessionmill:recall tell me about the fetch retries, plugin", heard=False)
    asked = requests(b, n)
    b.check("claude: the command /recall reaches the model", "Ask the memory of earlier sessions: tell me" in asked, asked[-600:])
    twice(b)
    done = b.run(["claude", "plugin", "uninstall", "sessionmill@sessionmill"])
    b.check("claude plugin uninstall", done.returncode == 0, done.stdout + done.stderr)
    n = len(b.script.requests)
    b.claude("Please tell me about the fetch retries without it")
    b.check("claude: nothing of the plugin runs any more", not blocks(b, n), blocks(b, n))
    plugin_of_codex(b, folder)
    b.run(["claude", "plugin", "marketplace", "remove", "sessionmill"])
    left = [name for name, data in files(b).items() if b"sessionmill" in (data or b"")]
    b.check("the plugins are gone from all settings", not left, left)


def twice(b):
    """Hooks and servers that the plugin has are not installed beside it."""
    before = files(b)
    for part in ("hooks", "mcp"):
        done = b.mill(part, "install", "--agent", "claude")
        said = done.stdout + done.stderr
        b.check(f"{part} install notices the plugin", "plugin" in said and files(b) == before
                and "sessionmill" not in servers_of(b), said)
        done = b.mill(part, "status")
        b.check(f"{part} status shows the plugin", "plugin" in done.stdout + done.stderr, done.stdout + done.stderr)


def plugin_of_codex(b, folder):
    for words in (["marketplace", "add", folder], ["add", "sessionmill@sessionmill"]):
        done = b.run(["codex", "plugin", *words], cwd=b.till)
        b.check(f"codex plugin {words[0]}", done.returncode == 0, done.stdout + done.stderr)
    n = len(b.script.requests)
    b.codex("--skip-git-repo-check", "--dangerously-bypass-hook-trust",
            "Please tell me about the fetch retries and the rates, in a plugin")
    b.check("codex: the plugin's hook brings the memory, once", once(blocks(b, n)), blocks(b, n))
    n = len(b.script.requests)
    b.names |= {"@HERE@": str(b.till), "@SESSION@": b.names["@X1@"]}
    b.codex("--skip-git-repo-check", "Load the memory tools of the plugin in codex")
    every_tool(b, "codex, plugin", n)
    for words in (["remove", "sessionmill@sessionmill"], ["marketplace", "remove", "sessionmill"]):
        done = b.run(["codex", "plugin", *words], cwd=b.till)
        b.check(f"codex plugin {words[0]}, again", done.returncode == 0, done.stdout + done.stderr)
