"""Google's generateContent in the scripted model's words: Gemini CLI asks so."""
import json
import uuid

ASIDE = json.dumps({"reasoning": "a small thing", "model_choice": "flash", "complexity_reasoning": "small",
                    "complexity_score": 10, "next_speaker": "user"})


def aside(body):
    """Which model is to answer, and what a chat is called."""
    wants = (body.get("generationConfig") or {}).get("responseMimeType")
    return ASIDE if wants == "application/json" else "Work on the shelf"


def is_asked(path):
    return path.endswith((":generateContent", ":streamGenerateContent", ":countTokens"))


def is_compaction(body):
    return "<state_snapshot>" in json.dumps(body.get("systemInstruction") or "") and not body.get("tools")


def said(body):
    """What people said, last first, each with how often the model spoke since."""
    turns = 0
    for content in reversed(body.get("contents", [])):
        if content.get("role") == "model":
            turns += 1
        elif not any("functionResponse" in part for part in content["parts"]):
            yield " ".join(part.get("text", "") for part in content["parts"]), turns


def parts(turn):
    """Gemini CLI's names for what each agent can do."""
    if turn.get("thinking"):
        yield {"text": turn["thinking"], "thought": True}
    if turn.get("text"):
        yield {"text": turn["text"]}
    for tool in turn.get("tools", []):
        (name, given), = tool.items()
        if name == "sh":
            name, given = "run_shell_command", {"command": given, "description": "Run it"}
        elif name == "helper":
            name, given = "invoke_agent", {"agent_name": "generalist", "prompt": given}
        yield {"functionCall": {"name": name, "args": given}}


def response(body, some, is_last):
    asked = len(json.dumps(body)) // 4
    candidate = {"content": {"role": "model", "parts": some}, "index": 0}
    if is_last:
        candidate["finishReason"] = "STOP"
    usage = {"promptTokenCount": asked, "candidatesTokenCount": len(json.dumps(some)) // 4,
             "cachedContentTokenCount": 0, "totalTokenCount": asked + len(json.dumps(some)) // 4}
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "gemini-3.8-flash",
            "responseId": uuid.uuid4().hex}


def events(body, turn):
    some = list(parts(turn))
    if turn.get("pause"):  # in two halves, so that it can be stopped between them
        words = some.pop()["text"]
        some += [{"text": words[:10]}, {"text": words[10:]}]
    for i, part in enumerate(some):
        yield response(body, [part], i == len(some) - 1)


def whole(body, turn):
    return response(body, list(parts(turn)), True)
