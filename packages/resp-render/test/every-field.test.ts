import { encodeFrame, type FieldValue } from '@agentpipe/frame'
import { MESSAGES, type MessageSpec } from '@agentpipe/message'
import t from 'tap'
import { render, renderChunks } from './render.js'

const HOSTILE = [
  ...['\x1b]52;c;eA==\x07', '\x1b[2J', '\x1b[8mx', '\x1bPq\x1b\\', '\u009b2J', '\u009d0;x\u009c', '\x1b(0', '\x07', '\x00', '\x7f', '\r', '\x1b', '\x1b['],
  ...['\u202e', '\u2066', '\u200b', '\x1b]8;;http://evil\x1b\\t\x1b]8;;\x1b\\', '\x1b[31m', '<a \x1b[2J>', '[a](http://x\x1b[2J.y)', '`\x1b[2J`'],
  ...['```\x1b[2Jjs\n\x1b[2J\n```', '| \x1b[2J |\n|-|\n|\u202e|', '&#x1b;[2J &#x9b;2J &#x202e;'],
]
/** SGR, and links whose address is nothing but printable ASCII. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const OURS = /\x1b\[[0-9;:]*m|\x1b\]8;(?:id=\d+;(?:https?|mailto):[!-~]+|;)\x1b\\/g
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const ACTS = /[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2066-\u2069]/

const EVENTS = Object.entries<MessageSpec>(MESSAGES).filter(([, { kind }]) => kind === 'event')

/** Each event with `hostile` in one field or attribute after the other. */
function* framesWith(type: string, { fields, attributes }: MessageSpec, hostile: string): Generator<readonly FieldValue[]> {
  const input = JSON.stringify({ command: hostile, path: hostile, todos: [{ content: hostile, status: hostile }] })
  const usual = fields.map((field) => (field.type === 'json' ? input : 'c1'))
  for (const index of fields.keys()) yield [type, ...usual.with(index, hostile)]
  for (const { name } of attributes) yield [type, ...usual, name, name === 'diff' ? `@@ -1 +1 @@\n-${hostile}\n+${hostile}x\n` : hostile]
}

t.test('nothing acts on the terminal, whatever field of whatever event it stands in: case 8', async (t) => {
  for (const [type, spec] of EVENTS) {
    const wrong: unknown[] = []
    for (const hostile of HOSTILE) {
      for (const frame of framesWith(type, spec, hostile)) {
        const screen = (depth: 0 | 16) =>
          render([['TOOL_CALL', 'Bash', 'c1', '{}'], frame, ['STOP', 'end_turn'], ['TEXT', 'end']], { width: 40, depth, links: depth > 0, usage: true })
        if (ACTS.test(screen(0)) || ACTS.test(screen(16).replace(OURS, ''))) wrong.push(frame)
        else if (!/(?:^|\n)end\n$/.test(screen(16))) wrong.push({ frame, leaks: screen(16) })
      }
    }
    t.same(wrong, [], type)
  }
})

t.test('a capture cut anywhere in its last record: case 14', async (t) => {
  const whole = encodeFrame(['TEXT', 'before the damage'])
  const last = encodeFrame(['TOOL_RESULT', 'c1', 'Bash', 'é漢\n', 'status', 'ok', 'duration_ms', '-1'])
  for (let at = 0; at < last.length; at++) t.equal(renderChunks([whole, last.subarray(0, at)]), 'before the damage\n')
  for (const time of ['5', '-1', '1000000000000000000', 'x']) {
    t.match(render([['TOOL_RESULT', 'c1', 'Bash', 'out', 'duration_ms', time]]), /^✓ Bash.*\n {2}│ out\n/, time)
  }
})
