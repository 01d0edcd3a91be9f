/** Says in the environment of a nested agentpipe how many sub-agents stand above it. */
const VARIABLE = 'AGENTPIPE_DEPTH'

/** How deep we are: 0 for the agent that a person has started. */
export function depth(): number {
  const text = process.env[VARIABLE] ?? '0'
  return /^\d{1,4}$/.test(text) ? Number(text) : Number.POSITIVE_INFINITY
}

/** What a person has said for one run is not for those below it. */
const NOT_HANDED_ON = ['AGENTPIPE_AGENTPIPE_CONTINUE', 'AGENTPIPE_AGENTPIPE_RECORD', 'AGENTPIPE_AGENT_LOOP_OUTPUT_SCHEMA', 'AGENTPIPE_TRACE']

/** The environment of a nested agentpipe: ours, keys among it, one level deeper. */
export function nestedEnvironment(): Record<string, string> {
  const kept = Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined && !NOT_HANDED_ON.includes(entry[0]))
  return { ...Object.fromEntries(kept), [VARIABLE]: String(depth() + 1) }
}
