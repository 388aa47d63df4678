"""OpenAI's chat completions in the scripted model's words: Qwen Code and OpenCode ask so."""
import json
import uuid

ASIDE = "Work in the barn"


def texts(content):
    return content if isinstance(content, str) else " ".join(part.get("text", "") for part in content or [])


def said(body):
    """What people said, last first, each with how often the model spoke since."""
    turns = 0
    for message in reversed(body.get("messages", [])):
        if message["role"] == "assistant":
            turns += 1
        elif message["role"] == "user":
            yield texts(message["content"]), turns


def calls(body, turn):
    """The asking agent's names for what each can do."""
    known = {tool["function"]["name"] for tool in body.get("tools", [])}
    for tool in turn.get("tools", []):
        (name, given), = tool.items()
        if name == "sh" and "bash" in known:
            name, given = "bash", {"command": given, "description": "Run it"}
        elif name == "helper" and "task" in known:
            name, given = "task", {"description": "Look it up", "prompt": given, "subagent_type": "general"}
        elif name == "sh":
            name, given = "run_shell_command", {"command": given, "description": "Run it", "is_background": False}
        elif name == "helper":
            name, given = "agent", {"description": "Look it up", "prompt": given, "subagent_type": "general-purpose"}
        function = {"name": name, "arguments": json.dumps(given)}
        yield {"id": f"call_{uuid.uuid4().hex[:20]}", "type": "function", "function": function}


def usage(body, turn):
    asked, answered = len(json.dumps(body)) // 4, len(json.dumps(turn)) // 4
    return {"prompt_tokens": asked, "completion_tokens": answered, "total_tokens": asked + answered}


def events(body, turn):
    head = {"id": f"chatcmpl-{uuid.uuid4().hex}", "object": "chat.completion.chunk", "created": 0, "model": body["model"]}

    def chunk(delta, finish=None):
        return head | {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
    yield chunk({"role": "assistant", "content": ""})
    if turn.get("thinking"):
        yield chunk({"reasoning_content": turn["thinking"]})
    words = turn.get("text", "")
    for part in (words[:10], words[10:]):
        yield chunk({"content": part})
    found = list(calls(body, turn))
    for i, call in enumerate(found):
        yield chunk({"tool_calls": [{"index": i} | call]})
    yield chunk({}, "tool_calls" if found else "stop")
    yield head | {"choices": [], "usage": usage(body, turn)}
    yield "[DONE]"


def whole(body, turn):
    message = {"role": "assistant", "content": turn.get("text", "")}
    found = list(calls(body, turn))
    choice = {"index": 0, "message": message | ({"tool_calls": found} if found else {}),
              "finish_reason": "tool_calls" if found else "stop"}
    return {"id": f"chatcmpl-{uuid.uuid4().hex}", "object": "chat.completion", "created": 0, "model": body["model"],
            "choices": [choice], "usage": usage(body, turn)}
