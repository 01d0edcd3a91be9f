import { command, EXIT, printable, readConfig } from '@agentpipe/stage'
import { type Finding, findings } from './findings.js'

const MARKS = { ok: 'ok     ', hint: 'hint   ', problem: 'PROBLEM', fatal: 'PROBLEM' } as const

/** `agentpipe doctor`: what an agent needs, and whether it is there. */
export const doctor = command({
  purpose: 'say what an agent needs and does not have',
  options: { json: { type: 'flag', about: 'print one JSON object' } },
  examples: ['agentpipe doctor || true', 'agentpipe doctor --json || true'],
  async act({ options, output }) {
    const all = await findings(() => void readConfig('agentpipe'))
    output.write(options.json ? `${JSON.stringify({ findings: all })}\n` : all.map(line).join(''))
    if (all.some(({ state }) => state === 'fatal')) return EXIT.UNAVAILABLE
    return all.some(({ state }) => state === 'problem') ? 1 : EXIT.OK
  },
})

function line({ state, what, found, todo }: Finding): string {
  return `${MARKS[state]}  ${what.padEnd(14)}  ${printable(found)}${todo === undefined ? '' : `: ${printable(todo)}`}\n`
}
