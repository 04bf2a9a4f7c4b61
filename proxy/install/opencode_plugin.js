// onlooker: tells the control plane of each tool call and its result; it never waits, never changes anything.
export const Onlooker = async ({ directory }) => {
  const url = `http://${process.env.ONLOOKER_CONTROL || "@CONTROL@"}/hooks/opencode`
  const post = (body) => {
    const headers = { "Content-Type": "application/json", "X-Onlooker-Pid": String(process.pid) }
    fetch(url, { method: "POST", headers, body: JSON.stringify(body), signal: AbortSignal.timeout(2000) }).catch(() => {})
  }
  return {
    "tool.execute.before": async (input, output) => {
      const { tool, sessionID: session, callID: call } = input
      post({ event: "tool.execute.before", tool, session, call, args: output.args, cwd: directory })
    },
    "tool.execute.after": async (input, output) => {
      const { tool, sessionID: session, callID: call } = input
      const { output: text, metadata } = output ?? {}
      post({ event: "tool.execute.after", tool, session, call, output: text, exit: metadata?.exit })
    },
  }
}
