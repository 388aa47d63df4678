// Written by `sessionmill hooks install --agent opencode`, and taken away by `sessionmill hooks remove --agent opencode`.
// Brings what was said in earlier sessions into a prompt: as a part that OpenCode doesn't show.
const command = @COMMAND@

const ask = async (call) => {
  const child = Bun.spawn(["sh", "-c", command], { stdin: "pipe", stdout: "pipe", stderr: "ignore", timeout: @TIMEOUT@ })
  child.stdin.write(JSON.stringify(call))
  child.stdin.end()
  const answer = await new Response(child.stdout).text()
  return answer.trim() && JSON.parse(answer).hookSpecificOutput?.additionalContext
}

export const Sessionmill = async ({ client, directory }) => {
  const begun = new Set()
  const begins = async (id) => {
    if (begun.has(id)) return {}
    begun.add(id)
    const session = await client.session.get({ path: { id } })
    const messages = await client.session.messages({ path: { id }, query: { limit: 1 } })
    return { child: session.data?.parentID, fresh: !messages.data?.length }
  }
  const children = new Set()
  return {
    "chat.message": async (input, output) => {
      try {
        const call = { session_id: input.sessionID, cwd: directory }
        const { child, fresh } = await begins(input.sessionID)
        if (child) children.add(input.sessionID)
        if (children.has(input.sessionID)) return // a sub-agent is told what it needs by its parent
        const typed = output.parts.filter((part) => part.type === "text" && !part.synthetic)
        const prompt = typed.map((part) => part.text).join("\n")
        const blocks = [
          fresh && (await ask({ ...call, hook_event_name: "SessionStart", source: "startup" })),
          prompt && (await ask({ ...call, hook_event_name: "UserPromptSubmit", prompt })),
        ]
        const text = blocks.filter(Boolean).join("\n")
        if (!text) return
        const { sessionID, id: messageID } = output.message
        const id = `prt_${Date.now().toString(16).padStart(12, "0")}${crypto.randomUUID().replaceAll("-", "").slice(0, 14)}`
        output.parts.push({ id, sessionID, messageID, type: "text", text, synthetic: true })
      } catch {} // a prompt goes on without memory
    },
  }
}
