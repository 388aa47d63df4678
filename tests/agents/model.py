"""A model that follows a script, streamed, on 127.0.0.1: Anthropic Messages, OpenAI Responses, Google's
generateContent (`google.py`), OpenAI's chat completions (`chat.py`).

Stateless. Which scene is told by the last thing that a person said (the scene's `when` is part of
it), which of its turns by how often the model spoke since. Every request is kept for the checks.
"""
import json
import re
import threading
import time
import uuid
import chat
import google
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

BLOCKS = re.compile(r"<(system-reminder|graphiti_memory|hook_context|qwen:[a-z-]+)>.*?</\1>", re.S)
SUMMARY = "Summary: the user had a retry with backoff put into client.py; nothing is left open."


def texts(content):
    if isinstance(content, str):
        return [content]
    kinds = ("text", "input_text", "output_text")
    return [b.get("text", "") for b in content or [] if b.get("type") in kinds]


class Script:
    """The scenes, and what was asked so far."""

    def __init__(self, scenes, names):
        self.scenes, self.names, self.requests, self.lock = scenes, names, [], threading.Lock()

    def scene(self, said):
        said = BLOCKS.sub("", said)
        found = [(said.rfind(s["when"]), s) for s in self.scenes if s["when"] in said]
        return max(found, key=lambda f: f[0])[1] if found else None

    def keep(self, api, body, note, headers):
        with self.lock:
            self.requests.append({"api": api, "body": body, "note": note, "headers": headers})

    # ---- what the model does next ------------------------------------------------------------

    def anthropic(self, body):
        messages = body.get("messages", [])
        last = " ".join(texts(messages[-1]["content"])) if messages else ""
        if "detailed summary of" in last:
            return {"text": f"<analysis>went through it</analysis>\n<summary>\n{SUMMARY}\n</summary>"}, "compaction"
        if not body.get("tools"):
            return {"text": json.dumps({"title": "Work on the shop"})}, "aside"
        for i in range(len(messages) - 1, -1, -1):
            message = messages[i]
            if message["role"] != "user":
                continue
            scene = self.scene(" ".join(texts(message["content"])))
            if scene:
                turns = sum(m["role"] == "assistant" for m in messages[i + 1:])
                return self.turn(scene, turns)
        return {"text": "Nothing is scripted for that."}, "unscripted"

    def openai(self, body):
        items = body.get("input", [])
        said = [(i, " ".join(texts(m.get("content")))) for i, m in enumerate(items)
                if m.get("type", "message") == "message" and m.get("role") == "user"]
        if said and ("CONTEXT CHECKPOINT" in said[-1][1] or "handoff summary" in said[-1][1]):
            return {"text": SUMMARY}, "compaction"
        for i, words in reversed(said):
            scene = self.scene(words)
            if scene:
                own = [x.get("type") in ("function_call", "custom_tool_call", "reasoning")
                       or x.get("role") == "assistant" for x in items[i + 1:]]
                turns = sum(mine and not (k and own[k - 1]) for k, mine in enumerate(own))
                return self.turn(scene, turns)
        return {"text": "Nothing is scripted for that."}, "unscripted"

    def google(self, body):
        if google.is_compaction(body):
            return {"text": f"<state_snapshot>\n{SUMMARY}\n</state_snapshot>"}, "compaction"
        if not body.get("tools"):
            return {"text": google.aside(body)}, "aside"
        for said, turns in google.said(body):
            scene = self.scene(said)
            if scene:
                return self.turn(scene, turns)
        return {"text": "Nothing is scripted for that."}, "unscripted"

    def chat(self, body):
        if not body.get("tools"):
            return {"text": chat.ASIDE}, "aside"
        for said, turns in chat.said(body):
            scene = self.scene(said)
            if scene:
                return self.turn(scene, turns)
        return {"text": "Nothing is scripted for that."}, "unscripted"

    def turn(self, scene, n):
        if n >= len(scene["turns"]):
            return {"text": "Done."}, "past the end"
        text = json.dumps(scene["turns"][n])
        for name, value in self.names.items():
            text = text.replace(name, value)
        return json.loads(text), f"{scene['when']}#{n}"


# ---- the same turn in the words of either API ----------------------------------------------------

def anthropic_blocks(turn, tools):
    names, blocks = {t.get("name") for t in tools}, []
    if turn.get("thinking"):
        blocks.append({"type": "thinking", "thinking": turn["thinking"], "signature": "c2lnbmVk"})
    if turn.get("text"):
        blocks.append({"type": "text", "text": turn["text"]})
    for tool in turn.get("tools", []):
        (name, given), = tool.items()
        if name == "sh":
            name, given = "Bash", {"command": given, "description": "Run it"}
        elif name == "background":
            name, given = "Bash", {"command": given, "description": "Run it", "run_in_background": True}
        elif name == "helper":
            name = "Agent" if "Agent" in names else "Task"
            given = {"description": "Look it up", "prompt": given, "subagent_type": "general-purpose",
                     "run_in_background": False}
        blocks.append({"type": "tool_use", "id": f"toolu_{uuid.uuid4().hex[:24]}", "name": name, "input": given})
    return blocks


def flat(tools, namespace=None):
    for tool in tools:
        if tool.get("type") == "namespace":
            yield from flat(tool.get("tools", []), tool.get("name"))
        else:
            yield namespace, tool.get("name") or tool.get("type"), tool


def openai_items(turn, tools):
    known = {name: (namespace, tool) for namespace, name, tool in flat(tools)}
    items, new = [], lambda kind: f"{kind}_{uuid.uuid4().hex[:24]}"
    if turn.get("thinking"):
        summary = [{"type": "summary_text", "text": turn["thinking"]}]
        items.append({"type": "reasoning", "id": new("rs"), "summary": summary, "encrypted_content": None})
    if turn.get("text"):
        items.append({"type": "message", "id": new("msg"), "role": "assistant", "status": "completed",
                      "content": [{"type": "output_text", "text": turn["text"], "annotations": []}]})
    for tool in turn.get("tools", []):
        (name, given), = tool.items()
        call = {"call_id": new("call"), "status": "completed"}
        if name == "patch" and known.get("apply_patch", (0, {}))[1].get("type") == "custom":
            items.append(call | {"type": "custom_tool_call", "id": new("ctc"), "name": "apply_patch", "input": given})
            continue
        if name == "patch":
            name, given = "sh", f"apply_patch <<'EOF'\n{given}\nEOF"
        if name == "sh":
            name = next(n for n in ("exec_command", "shell_command", "shell") if n in known)
            given = {"exec_command": {"cmd": given}, "shell_command": {"command": given},
                     "shell": {"command": ["bash", "-lc", given]}}[name]
        name = name.split("__")[-1] if name.startswith("mcp__") else name
        item = call | {"type": "function_call", "id": new("fc"), "name": name, "arguments": json.dumps(given)}
        namespace = known.get(name, (None,))[0]
        items.append(item | ({"namespace": namespace} if namespace else {}))
    return items


def anthropic_events(body, turn):
    blocks = anthropic_blocks(turn, body.get("tools", []))
    asked = len(json.dumps(body)) // 4
    usage = {"input_tokens": min(asked, 2000), "cache_creation_input_tokens": 0,
             "cache_read_input_tokens": max(0, asked - 2000), "output_tokens": 1}
    stop = "tool_use" if any(b["type"] == "tool_use" for b in blocks) else "end_turn"
    message = {"id": f"msg_{uuid.uuid4().hex[:24]}", "type": "message", "role": "assistant",
               "model": body.get("model"), "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
    yield {"type": "message_start", "message": message}
    for i, block in enumerate(blocks):
        empty, deltas = {
            "text": lambda: ({"text": ""}, [{"type": "text_delta", "text": block["text"][j:j + 40]}
                                            for j in range(0, len(block["text"]), 40)]),
            "thinking": lambda: ({"thinking": "", "signature": ""},
                                 [{"type": "thinking_delta", "thinking": block["thinking"]},
                                  {"type": "signature_delta", "signature": block["signature"]}]),
            "tool_use": lambda: ({"input": {}}, [{"type": "input_json_delta", "partial_json": json.dumps(block["input"])}]),
        }[block["type"]]()
        yield {"type": "content_block_start", "index": i, "content_block": block | empty}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": i, "delta": delta}
        yield {"type": "content_block_stop", "index": i}
    yield {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None},
           "usage": usage | {"output_tokens": len(json.dumps(blocks)) // 4}}
    yield {"type": "message_stop"}


def openai_events(body, turn):
    items = openai_items(turn, body.get("tools") or [])
    response = {"id": f"resp_{uuid.uuid4().hex}", "object": "response", "status": "in_progress",
                "model": body.get("model"), "output": []}
    yield {"type": "response.created", "response": response}
    for i, item in enumerate(items):
        yield {"type": "response.output_item.added", "output_index": i,
               "item": item | ({"content": []} if item["type"] == "message" else {})}
        if item["type"] == "message":
            yield {"type": "response.output_text.delta", "item_id": item["id"], "output_index": i,
                   "content_index": 0, "delta": item["content"][0]["text"]}
        yield {"type": "response.output_item.done", "output_index": i, "item": item}
    asked, answered = len(json.dumps(body)) // 4, len(json.dumps(items)) // 4
    usage = {"input_tokens": asked, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": answered,
             "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": asked + answered}
    yield {"type": "response.completed", "response": response | {"status": "completed", "output": items, "usage": usage}}


def serve(scenes, names):
    """Starts the server on a free port; gives the script that it follows, and the port."""
    script = Script(scenes, names)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            pass

        def answer(self, code, document):
            data = json.dumps(document).encode()
            self.send_response(code)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.send_header("x-should-retry", "false")
            self.end_headers()
            self.wfile.write(data)

        def do_HEAD(self):
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def do_GET(self):
            models = self.path.split("?")[0].endswith("/models")
            self.answer(200 if models else 404, {"data": [], "models": [], "object": "list", "has_more": False})

        def do_POST(self):
            raw = self.rfile.read(int(self.headers.get("content-length") or 0))
            path = self.path.split("?")[0]
            body = json.loads(raw or b"{}") if self.headers.get("content-encoding") is None else {}
            if path.endswith("/count_tokens"):
                return self.answer(200, {"input_tokens": len(raw) // 4})
            if path.endswith("/messages"):
                return self.turn("anthropic", body, script.anthropic, anthropic_events)
            if path.endswith("/responses"):
                return self.turn("openai", body, script.openai, openai_events)
            if google.is_asked(path):
                return self.google(path, body)
            if path.endswith("/chat/completions"):
                return self.chat(body)
            self.answer(404 if path.endswith("/compact") else 200, {})

        def google(self, path, body):
            if path.endswith(":countTokens"):
                return self.answer(200, {"totalTokens": len(json.dumps(body)) // 4})
            if path.endswith(":streamGenerateContent"):
                return self.turn("google", body, script.google, google.events)
            turn, note = script.google(body)
            script.keep("google", body, note, dict(self.headers))
            self.answer(200, google.whole(body, turn))

        def chat(self, body):
            if body.get("stream"):
                return self.turn("chat", body, script.chat, chat.events)
            turn, note = script.chat(body)
            script.keep("chat", body, note, dict(self.headers))
            self.answer(200, chat.whole(body, turn))

        def turn(self, api, body, plan, events):
            turn, note = plan(body)
            script.keep(api, body, note, dict(self.headers))
            time.sleep(turn.get("seconds", 0))
            if "error" in turn:
                kind = {"type": "invalid_request_error", "message": turn["says"]}
                kind |= {"code": turn["error"], "status": "INVALID_ARGUMENT"} if api == "google" else {}
                return self.answer(turn["error"], {"type": "error", "error": kind})
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("connection", "close")
            self.end_headers()
            self.close_connection = True
            for event in events(body, turn):
                kind = event.get("type", "") if isinstance(event, dict) else "end"
                named = f"event: {kind}\n" if kind and kind != "end" else ""
                data = event if kind == "end" else json.dumps(event)
                self.wfile.write(f"{named}data: {data}\n\n".encode())
                self.wfile.flush()
                if not kind or kind.endswith("delta"):
                    time.sleep(turn.get("pause", 0))

    class Server(ThreadingHTTPServer):
        def handle_error(self, *_):
            pass  # the agent was killed or stopped, as the script wants; other faults fail a check

    server = Server(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return script, server.server_address[1]
