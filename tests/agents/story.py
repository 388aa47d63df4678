"""What the agents are made to do: each step is one that people do every day, or that happens to them."""
import threading
import time

import bench as benches
import logs


def claude(b):
    c1 = b.names["@C1@"] = b.claude("Add a retry with exponential backoff to fetch() in client.py")
    same = b.claude("Why four attempts and not more?", "--continue")
    b.check("claude: --continue goes on in the same session", same == c1, f"{same} is not {c1}")
    b.claude("Make the base delay configurable, please", "--resume", c1)
    c2 = b.names["@C2@"] = b.claude("Now put failed requests into a Redis queue", "--resume", c1, "--fork-session")
    b.claude("This won't work with our serverless setup, roll it back", "--resume", c2)
    b.run(["git", "checkout", "-q", "main"])
    b.claude("Say that the original goes on here", "--resume", c1)
    b.names["@FAILS@"] = b.claude("Please clean up the settings module")
    b.claude("Use a tool that nobody has")
    b.claude("Please cause an API error")
    b.claude("Print the long listing")
    b.claude("Look at the picture in this folder")
    b.claude("Start the server in the background")
    b.names["@HELPED@"] = b.claude("Find out who calls fetch in this repository")
    b.claude("Fetch a page that nobody allowed")
    b.claude("Explain what client.py does, as a plan", "--permission-mode", "plan")
    heard_while_busy(b)
    running = b.started(["claude", "--allowedTools", "Bash", "-p"], "Measure how slow the checkout is", b.project)
    b.names["@KILLED@"] = b.newest("claude")
    b.running("claude", b.names["@KILLED@"])
    b.kill(running)
    b.claude("/compact", "--resume", c1, heard=False)
    b.claude("Explain what client.py does now", "--resume", c1)
    claude_in_a_terminal(b)


def heard_while_busy(b):
    """How long it takes until `watch` has a word that a busy agent said."""
    watch = b.watching("watched")
    waits = []

    def listen(turn, word):
        if b.wait(lambda: any(r["note"] == f"Walk through the modules#{turn}" for r in b.script.requests)):
            waits.append(b.until_found(word, "watched"))

    listeners = [threading.Thread(target=listen, args=pair) for pair in ((2, "quokka"), (8, "axolotl"))]
    [listener.start() for listener in listeners]
    b.claude("Walk through the modules one by one")
    [listener.join() for listener in listeners]
    watch.terminate()
    watch.wait()
    b.figures["longest time until what a working agent says can be found, with `watch`"] = f"{max(waits, default=99):.0f} s"
    b.check("watch: what a busy agent says is found within 12 s", len(waits) == 2 and max(waits) <= 12, waits)


def claude_in_a_terminal(b):
    """A prompt is typed, the session branched, and a second one stopped with Esc."""
    if not b.has_tmux:
        return
    b.tmux("new-session", "-d", "-s", "c", "-x", "160", "-y", "50", "claude --permission-mode acceptEdits")
    if not b.wait(lambda: "❯" in b.screen("c") or ">" in b.screen("c")):
        return b.check("claude: begins in a terminal", False, b.screen("c"))
    time.sleep(1)
    before = set(logs.claude_sessions(b.home))
    b.typed("c", "Say good morning in the terminal")
    answered = b.wait(lambda: "Good morning from the terminal." in b.screen("c"))
    b.check("claude: answers in a terminal", answered, b.screen("c"))
    first = set(logs.claude_sessions(b.home)) - before
    b.names["@TERMINAL@"] = min(first, default="none")
    time.sleep(1)
    b.tmux("send-keys", "-t", "c", "-l", "/branch")
    time.sleep(0.5)
    b.tmux("send-keys", "-t", "c", "Enter")
    b.check("claude: /branch branches", b.wait(lambda: "Branched session" in b.screen("c"), 15), b.screen("c"))
    b.typed("c", "Write a very long poem about the sea")
    b.wait(lambda: any(r["note"] == "Write a very long poem#0" for r in b.script.requests))
    time.sleep(1.5)
    b.tmux("send-keys", "-t", "c", "Escape")
    stopped = b.wait(lambda: "nterrupted" in b.screen("c"), 10)
    b.check("claude: is stopped with Esc", stopped, b.screen("c"))
    b.names["@BRANCH@"] = min(set(logs.claude_sessions(b.home)) - before - first, default="none")
    b.tmux("kill-session", "-t", "c")


def codex(b):
    new = ["--skip-git-repo-check"]
    x1 = b.names["@X1@"] = b.codex(*new, "Add a currency converter with fixed rates")
    same = b.codex("resume", "--last", "Why are the rates fixed?")
    b.check("codex: resume --last goes on in the same session", same == x1, f"{same} is not {x1}")
    b.codex("resume", x1, "Round to two decimals")
    b.names["@X2@"] = b.codex("fork", x1, "Take the rounding back")
    b.codex("-c", "model_auto_compact_token_limit=500", "resume", x1, "Say that the original goes on here too")
    b.codex(*new, "Run the broken migration")
    b.codex(*new, "Please cause an API error with this one")
    b.codex(*new, "Print the long listing here")
    b.codex(*new, "-i", str(b.till / "dot.png"), "--", "What is in the attached picture?")
    b.names["@XHELPED@"] = b.codex(*new, "Let a helper count the lines")
    running = b.started(["codex", "exec", *new], "Measure how slow the checkout is on that disk", b.till)
    b.names["@XKILLED@"] = b.newest("codex")
    b.running("codex", b.names["@XKILLED@"])
    b.kill(running)


def gemini(b):
    g1 = b.names["@G1@"] = b.gemini("Add a stock counter with a floor of zero")
    same = b.gemini("Why a floor at all?", "--resume", "latest")
    b.check("gemini: --resume latest goes on in the same session", same == g1, f"{same} is not {g1}")
    b.gemini("Let the floor be configurable", "--resume", g1)
    b.gemini("Please empty the stockroom")
    b.gemini("Print the long listing of the shelf")
    b.gemini("Look at the picture on the shelf: @dot.png")
    b.names["@GHELPED@"] = b.gemini("Let the generalist find who counts")
    running = b.started(["gemini", "--yolo", "--skip-trust", "-p"], "Measure how slow the shelf is", b.shelf)
    b.kill(running)
    gemini_in_a_terminal(b)


def gemini_in_a_terminal(b):
    """A prompt is typed, one is stopped with Esc, the session is compacted, and a turn taken back."""
    if not b.has_tmux:
        return
    before = set(logs.gemini_sessions(b.home))
    b.tmux("new-session", "-d", "-s", "g", "-x", "160", "-y", "50", "-c", str(b.shelf), "gemini --yolo --skip-trust")
    if not b.wait(lambda: "Type your message" in b.screen("g")):
        return b.check("gemini: begins in a terminal", False, b.screen("g"))
    time.sleep(1)
    b.typed("g", "Say good evening to the shelf")
    answered = b.wait(lambda: "Good evening from the shelf." in b.screen("g"))
    b.check("gemini: answers in a terminal", answered, b.screen("g"))
    b.names["@GTERMINAL@"] = min(set(logs.gemini_sessions(b.home)) - before, default="none")
    # headless, Gemini CLI deletes the chat after an error
    b.typed("g", "Please cause an API error in the stockroom")
    refused = b.wait(lambda: "API Error" in b.screen("g") or "request failed" in b.screen("g"))
    b.check("gemini: shows an API error", refused, b.screen("g"))
    b.typed("g", "Write a slow poem about shelves")
    b.wait(lambda: any(r["note"] == "Write a slow poem#0" for r in b.script.requests))
    time.sleep(1.5)
    b.tmux("send-keys", "-t", "g", "Escape")
    stopped = b.wait(lambda: "ancelled" in b.screen("g"), 10)
    b.check("gemini: is stopped with Esc", stopped, b.screen("g"))
    b.typed("g", "Say what is left on the shelf")
    b.wait(lambda: "Three boxes are left." in b.screen("g"))
    time.sleep(1)
    b.tmux("send-keys", "-t", "g", "-l", "/compress")
    time.sleep(1)
    b.tmux("send-keys", "-t", "g", "Enter")
    b.check("gemini: /compress compacts", b.wait(lambda: "compressed from" in b.screen("g"), 15), b.screen("g"))
    b.typed("g", "Say something that is taken back")
    b.wait(lambda: "This will be taken back." in b.screen("g"))
    time.sleep(1)
    b.tmux("send-keys", "-t", "g", "-l", "/rewind")
    for key in ("Enter", "Up", "Enter", "Enter"):
        time.sleep(1.2)
        b.tmux("send-keys", "-t", "g", key)
    time.sleep(1)
    b.tmux("kill-session", "-t", "g")
    time.sleep(3)  # it writes its last lines when it ends


def qwen(b):
    q1 = b.names["@Q1@"] = b.qwen("Add a hay ledger to the barn")
    same = b.qwen("Why is hay weighed twice?", "--continue")
    b.check("qwen: --continue goes on in the same session", same == q1, f"{same} is not {q1}")
    b.qwen("Let the ledger round to kilos", "--resume", q1)
    b.names["@Q2@"] = b.qwen("Take the loft into the ledger", "--resume", q1, "--fork-session")
    b.qwen("Say that the barn goes on without a loft", "--resume", q1)
    b.qwen("Please muck out the old stable")
    b.qwen("Please cause an API error in the barn")
    b.qwen("Print the long listing of the barn")
    b.qwen("Look at the picture in the barn: @dot.png")
    b.names["@QHELPED@"] = b.qwen("Let a farmhand find who weighs")
    running = b.started(["qwen", "--yolo"], "Measure how slow the barn is", b.barn, **benches.NO_PROXY)
    b.names["@QKILLED@"] = b.newest("qwen")
    b.running("qwen", b.names["@QKILLED@"])
    b.kill(running)
    qwen_in_a_terminal(b)


def qwen_in_a_terminal(b):
    """A prompt is typed, one is stopped with Esc, and the session is compacted."""
    if not b.has_tmux:
        return
    before = set(logs.qwen_sessions(b.home))
    b.tmux("new-session", "-d", "-s", "q", "-x", "160", "-y", "50", "-c", str(b.barn),
           "http_proxy= https_proxy= qwen --yolo")
    if not b.wait(lambda: "Type your message" in b.screen("q")):
        return b.check("qwen: begins in a terminal", False, b.screen("q"))
    time.sleep(2)
    b.typed("q", "Say good night to the barn")
    answered = b.wait(lambda: "Good night from the barn." in b.screen("q"))
    b.check("qwen: answers in a terminal", answered, b.screen("q"))
    b.names["@QTERMINAL@"] = min(set(logs.qwen_sessions(b.home)) - before, default="none")
    b.typed("q", "Write an endless poem about hay")
    b.wait(lambda: "Roses and" in b.screen("q"))
    b.tmux("send-keys", "-t", "q", "Escape")
    stopped = b.wait(lambda: "ancelled" in b.screen("q"), 10)
    b.check("qwen: is stopped with Esc", stopped, b.screen("q"))
    b.tmux("send-keys", "-t", "q", "C-u")  # the prompt comes back into the line
    b.typed("q", "Say what is left in the barn")
    b.wait(lambda: "Two bales are left." in b.screen("q"))
    time.sleep(1)
    b.tmux("send-keys", "-t", "q", "-l", "/compress")
    time.sleep(1)
    b.tmux("send-keys", "-t", "q", "Enter")
    b.check("qwen: /compress compacts", b.wait(lambda: "compressed from" in b.screen("q"), 30), b.screen("q"))
    b.tmux("kill-session", "-t", "q")
    time.sleep(3)  # it writes its last lines when it ends


def opencode(b):
    o1 = b.names["@O1@"] = b.opencode("Add a tide table to the dock")
    same = b.opencode("Why is the tide read twice?", "--continue")
    b.check("opencode: --continue goes on in the same session", same == o1, f"{same} is not {o1}")
    b.opencode("Let the table round to minutes", "--session", o1)
    b.names["@O2@"] = b.opencode("Take the pier into the table", "--session", o1, "--fork")
    b.opencode("Say that the dock goes on without a pier", "--session", o1)
    b.opencode("Please scrub the old hull")
    b.opencode("Please cause an API error at the dock")
    b.opencode("Print the long listing of the dock")
    b.opencode("Look at the note at the dock", "--file", "README.md")
    b.names["@OHELPED@"] = b.opencode("Let a docker find who reads")
    running = b.started(["opencode", "run", "--auto", "--"], "Measure how slow the dock is", b.dock, words=True)
    b.names["@OKILLED@"] = b.newest("opencode")
    b.running("opencode", b.names["@OKILLED@"])
    b.kill(running)
    opencode_as_a_server(b)


def opencode_as_a_server(b):
    """What its terminal asks its server for: a turn is stopped, one is taken back, the session is compacted."""
    with benches.Server(b) as server:
        def say(session, text):
            b.said.append(text)
            server.ask("POST", f"/session/{session}/message", {"model": server.model, "parts": [{"type": "text", "text": text}]})

        stopped = b.names["@OSTOPPED@"] = server.ask("POST", "/session", {})["id"]
        turn = threading.Thread(target=say, args=(stopped, "Write an endless poem about tides"))
        turn.start()
        b.wait(lambda: any(r["note"] == "endless poem about tides#0" for r in b.script.requests))
        time.sleep(3)
        server.ask("POST", f"/session/{stopped}/abort", {})
        turn.join()
        served = b.names["@OSERVED@"] = server.ask("POST", "/session", {})["id"]
        say(served, "Say good tide to the dock")
        say(served, "Say something that the tide takes back")
        said = server.ask("GET", f"/session/{served}/message")
        last = [m["info"]["id"] for m in said if m["info"]["role"] == "user"][-1]
        server.ask("POST", f"/session/{served}/revert", {"messageID": last})
        say(served, "Say what is left at the dock")
        server.ask("POST", f"/session/{served}/summarize", server.model)
