"""The bench: a home of its own, the agents in it, the scripted model, and the program under test.

Nothing of this machine's own home is seen, and no other address than 127.0.0.1 is asked.
"""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import threading
import time
import tomllib
import urllib.request

import logs
import model

HERE = pathlib.Path(__file__).parent
TOOLS = "Bash,Read,Edit,Write,Agent,Task,ToolSearch,mcp__sessionmill,mcp__sessionmill__*"
MCP_TOOLS = "mcp__plugin_sessionmill_sessionmill,mcp__plugin_sessionmill_sessionmill__*"
PICTURE = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c4944415408d76360f8"
    "cf000000030001001827d8a50000000049454e44ae426082")
PROJECT = {
    "client.py": "from urllib.request import urlopen\n\n\ndef fetch(url):\n    return urlopen(url).read()\n",
    "test_client.py": """import unittest
from unittest import mock
import client


class Fetch(unittest.TestCase):
    def test_retry(self):
        with mock.patch("client.urlopen", side_effect=OSError), mock.patch("client.sleep", create=True):
            with self.assertRaises(OSError):
                client.fetch("http://x")
""",
    "README.md": "# shop\nfetches things\n",
    ".gitignore": "__pycache__/\n",
}
CODEX = """# a comment of the user's
model = "gpt-5.1-codex"
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false

[model_providers.scripted]
name = "scripted"
base_url = "http://127.0.0.1:@PORT@/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
request_max_retries = 1
stream_max_retries = 1

[analytics]
enabled = false

[projects."@P@"]
trust_level = "trusted"
"""
NO_PROXY = {"http_proxy": "", "https_proxy": ""}  # Qwen Code sends what is for 127.0.0.1 to a proxy, too
# not written as we would, so that it shows whether bytes are kept
GEMINI = """{
    "security": {"auth": {"selectedType": "gemini-api-key"}},
  "general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false, "sessionRetention": {"enabled": false}},
  "privacy": {"usageStatisticsEnabled": false}
}"""
OPENCODE = """{
    "autoupdate": false, "share": "disabled",
  "model": "scripted/tiny", "small_model": "scripted/tiny",
  "provider": {"scripted": {"npm": "@ai-sdk/openai-compatible", "options": {"baseURL": "http://127.0.0.1:@PORT@/v1", "apiKey": "none"},
    "models": {"tiny": {"name": "Tiny", "limit": {"context": 200000, "output": 8000}, "cost": {"input": 1, "output": 5}}}}}
}
"""
QWEN = """{
  "$version": 4,
  "security": {"auth": {"selectedType": "openai"}},
  "privacy": {"usageStatisticsEnabled": false}
}
"""


class Bench:
    def __init__(self, root, agents, program):
        self.root = pathlib.Path(root)
        shutil.rmtree(self.root, ignore_errors=True)
        self.home, self.bin = self.root / "home", self.root / "bin"
        # a project for each agent, so that both may work at a time
        self.folders = [self.home / "src" / name for name in ("shop", "till", "shelf", "barn", "dock")]
        self.project, self.till, self.shelf, self.barn, self.dock = self.folders
        for name in (".claude", ".codex", ".gemini", ".qwen", ".config/opencode"):
            (self.home / name).mkdir(parents=True)
        for folder in (self.bin, *self.folders):
            folder.mkdir(parents=True)
        shutil.copy(program, self.bin / "sessionmill")
        text = (HERE / "scenarios.toml").read_text().replace("@P@", str(self.project))
        text = text.replace("@BARN@", str(self.barn)).replace("@DOCK@", str(self.dock))
        self.names = {}  # what the script may name and only a run knows: `@C1@` is a session's id
        self.script, port = model.serve(tomllib.loads(text)["scene"], self.names)
        self.env = {
            "HOME": str(self.home), "TZ": "UTC", "LANG": "C.UTF-8", "TERM": "xterm-256color",
            "PATH": f"{agents}:{self.bin}:{os.environ['PATH']}",
            "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{port}", "ANTHROPIC_API_KEY": "sk-ant-scripted-000",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_TELEMETRY": "1",
            "GEMINI_API_KEY": "scripted", "GOOGLE_GEMINI_BASE_URL": f"http://127.0.0.1:{port}",
            "OPENAI_API_KEY": "scripted", "OPENAI_BASE_URL": f"http://127.0.0.1:{port}/v1",
            "OPENAI_MODEL": "qwen3-coder-plus",
            "OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "OPENCODE_DISABLE_LSP_DOWNLOAD": "1", "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
            "DISABLE_ERROR_REPORTING": "1", "DISABLE_AUTOUPDATER": "1", "SCRIPTED_KEY": "none",
            # where OpenCode finds a plugin, it fetches a library from npm before it begins: over a minute of retries
            "npm_config_fetch_retries": "0",
            "http_proxy": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9", "no_proxy": "127.0.0.1",
        }
        config = CODEX.replace("@PORT@", str(port)).replace("@P@", str(self.till))
        (self.home / ".codex" / "config.toml").write_text(config)
        (self.home / ".gemini" / "settings.json").write_text(GEMINI)
        (self.home / ".qwen" / "settings.json").write_text(QWEN)
        (self.home / ".config" / "opencode" / "opencode.json").write_text(OPENCODE.replace("@PORT@", str(port)))
        known = {"hasCompletedOnboarding": True, "theme": "dark",
                 "customApiKeyResponses": {"approved": ["sk-ant-scripted-000"[-20:]], "rejected": []},
                 "projects": {str(self.project): {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}}}
        (self.home / ".claude.json").write_text(json.dumps(known, indent=2))
        for folder in self.folders:
            for name, content in PROJECT.items():
                (folder / name).write_text(content)
            (folder / "dot.png").write_bytes(PICTURE)
            for words in ("init -q -b main", "config user.email dev@example.com", "config user.name Dev",
                          "add -A", "commit -q -m Begin"):
                self.run(["git", *words.split()], cwd=folder)
        self.said, self.checks, self.failed, self.passed = [], [], [], 0
        self.figures = {}
        self.has_tmux = shutil.which("tmux") is not None

    # ---- running things ------------------------------------------------------------------------

    def run(self, command, seconds=120, cwd=None, **env):
        """Standard output, standard error and exit code of a command in the project."""
        return subprocess.run(command, cwd=cwd or self.project, env=self.env | env, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=seconds)

    def mill(self, *words, store=None):
        """The program, with the store that the agents' hooks and servers see, or another one."""
        env = {"SESSIONMILL_HOME": str(self.root / store)} if store else {}
        return self.run(["sessionmill", *words], **env)

    def json(self, *words, store=None):
        done = self.mill(*words, "--json", store=store)
        try:
            return json.loads(done.stdout)
        except ValueError:
            raise SystemExit(f"sessionmill {' '.join(words)} printed no JSON: {done.stdout[:300]}{done.stderr[:600]}")

    def claude(self, prompt, *args, heard=True):
        """One headless turn of Claude Code; gives its session."""
        if heard:
            self.said.append(prompt)
        done = self.run(["claude", "-p", prompt, "--output-format", "json", "--allowedTools",
                         f"{TOOLS},{MCP_TOOLS}", *args])
        try:
            return json.loads(done.stdout)["session_id"]
        except (ValueError, KeyError):
            raise SystemExit(f"claude printed no session: {done.stdout[:500]}{done.stderr[:500]}")

    def codex(self, *args, heard=True):
        """One headless turn of Codex; the last argument is the prompt. Gives its session."""
        if heard:
            self.said.append(args[-1])
        done = self.run(["codex", "exec", *args], cwd=self.till)
        ids = [line.split()[-1] for line in done.stderr.splitlines() if line.startswith("session id:")]
        if not ids:
            raise SystemExit(f"codex printed no session: {done.stdout[:500]}{done.stderr[:500]}")
        return ids[-1]

    def gemini(self, prompt, *args, heard=True):
        """One headless turn of Gemini CLI; gives its session, also of a turn that fails."""
        if heard:
            self.said.append(prompt)
        done = self.run(["gemini", "--yolo", "--skip-trust", *args, "-o", "json", "-p", prompt], cwd=self.shelf)
        found = re.findall(r'"session_id": "([^"]+)"', done.stdout + done.stderr)
        if not found:
            raise SystemExit(f"gemini printed no session: {done.stdout[:500]}{done.stderr[:500]}")
        return found[-1]

    def qwen(self, prompt, *args, heard=True):
        """One headless turn of Qwen Code; gives its session."""
        if heard:
            self.said.append(prompt)
        done = self.run(["qwen", "--yolo", *args, "-o", "json", prompt], cwd=self.barn, **NO_PROXY)
        found = re.findall(r'"session_id": ?"([^"]+)"', done.stdout + done.stderr)
        if not found:
            raise SystemExit(f"qwen printed no session: {done.stdout[:500]}{done.stderr[:500]}")
        return found[-1]

    def opencode(self, prompt, *args, heard=True):
        """One headless turn of OpenCode, which quotes what isn't handed over word by word; gives its session."""
        if heard:
            self.said.append(prompt)
        done = self.run(["opencode", "run", "--auto", "--format", "json", *args, "--", *prompt.split()], cwd=self.dock)
        found = re.findall(r'"sessionID":"([^"]+)"', done.stdout + done.stderr)
        return found[-1] if found else self.newest("opencode")

    def started(self, command, prompt, cwd, words=False, **env):
        """Starts an agent with a prompt; gives it once its first call runs."""
        self.said.append(prompt)
        prompts = prompt.split() if words else [prompt]
        before = len(self.script.requests)
        process = subprocess.Popen([*command, *prompts], cwd=cwd, env=self.env | env, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        self.wait(lambda: any(r["note"].endswith("#0") and r["note"][:-2] in prompt
                              for r in self.script.requests[before:]))
        time.sleep(3)
        return process

    @staticmethod
    def kill(process):
        """As the out-of-memory killer does it."""
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def watching(self, store):
        """`sessionmill watch`, with a store of its own."""
        self.mill("init", "--yes", store=store)
        env = self.env | {"SESSIONMILL_HOME": str(self.root / store)}
        return subprocess.Popen(["sessionmill", "watch"], cwd=self.project, env=env, stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def until_found(self, word, store):
        """Seconds until a search finds a word."""
        began = time.time()
        self.wait(lambda: self.mill("search", word, store=store).returncode == 0, 60)
        return time.time() - began

    @staticmethod
    def wait(what, seconds=40):
        end = time.time() + seconds
        while time.time() < end:
            if what():
                return True
            time.sleep(0.2)
        return False

    def part(self, tell):
        """One agent's part of the story; what goes wrong in it is a failed check."""
        try:
            tell(self)
        except (SystemExit, Exception) as fault:  # noqa: BLE001
            self.check(f"{tell.__name__}: the story is told to its end", False, repr(fault)[:600])

    def newest(self, agent):
        """The session of the log that was begun last."""
        begun = {"claude": logs.claude_sessions, "codex": logs.codex_sessions,
                 "qwen": logs.qwen_sessions, "opencode": logs.opencode_sessions}[agent](self.home)
        return max(begun, key=lambda session: begun[session])

    def running(self, agent, session):
        """What is stored of a session while its call runs."""
        self.json("run", store="running")
        shown = self.json("show", session, store="running")
        outcome = shown["session"]["outcome"]
        self.check(f"{agent}: a session that runs isn't completed", outcome != "completed", outcome)
        pending = [e["pending_calls"] for e in shown["episodes"]]
        self.check(f"{agent}: its pending call shows", sum(pending) == 1, pending)

    # ---- a terminal ----------------------------------------------------------------------------

    def tmux(self, *words):
        return subprocess.run(["tmux", "-S", str(self.root / "tmux"), *words], env=self.env,
                              capture_output=True, text=True, cwd=self.project)

    def typed(self, name, text):
        self.said.append(text)
        self.tmux("send-keys", "-t", name, "-l", text)
        time.sleep(0.5)
        self.tmux("send-keys", "-t", name, "Enter")

    def screen(self, name):
        return self.tmux("capture-pane", "-p", "-t", name).stdout

    # ---- what is told --------------------------------------------------------------------------

    def check(self, what, ok, why=""):
        self.checks.append((what, bool(ok)))
        if ok:
            self.passed += 1
        else:
            self.failed.append(what)
        print(f"{'ok  ' if ok else 'FAIL'} {what}{'' if ok else f': {why}'}", flush=True)


class Server:
    """OpenCode, as its terminal and editors have it."""
    model = {"providerID": "scripted", "modelID": "tiny"}

    def __init__(self, bench):
        self.bench = bench

    def __enter__(self):
        self.process = subprocess.Popen(["opencode", "serve", "--port", "0", "--hostname", "127.0.0.1"], cwd=self.bench.dock,
                                        env=self.bench.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True)
        for line in self.process.stdout:
            found = re.search(r"http://127.0.0.1:\d+", line)
            if found:
                self.address = found[0]
                return self
        raise SystemExit("opencode serves nothing")

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def ask(self, method, path, body=None):
        request = urllib.request.Request(self.address + path, method=method, headers={"content-type": "application/json"},
                                         data=None if body is None else json.dumps(body).encode())
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        return json.loads(direct.open(request, timeout=90).read() or b"null")


class Busy(threading.Thread):
    """Runs the program again and again while the agents work: whatever it meets half written, the store
    has to be the one that a single run makes at the end."""

    def __init__(self, bench, store):
        super().__init__(daemon=True)
        self.bench, self.store, self.stop, self.runs, self.bad = bench, store, threading.Event(), 0, []

    def run(self):
        while not self.stop.wait(1.5):
            done = self.bench.mill("run", store=self.store)
            self.runs += 1
            if done.returncode not in (0,):
                self.bad.append(done.stderr[-300:])
