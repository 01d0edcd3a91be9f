import { type FieldValue, Frame } from '@agentpipe/frame'
import { type FieldSpec, MESSAGES, type MessageSpec, repeatedMembers } from '@agentpipe/message'
import { frames, root } from '@agentpipe/testing'
import fc from 'fast-check'
import t from 'tap'
import { entriesIn } from '../src/log-reader.js'
import { PlainLines } from '../src/plain-line.js'
import { isRecorded, recordLine } from '../src/record.js'

const TEXTS = [
  '',
  'x',
  'a few words',
  'é漢😀',
  'a "quoted"\\ \n\r\t\b\f/ text',
  'x'.repeat(100_000),
  '\0',
  '\x1b[31mred\x1b[0m',
  '\u2028',
  '\x7f',
  'tail\\',
  '","text":"',
  '}',
]
const TIME = '2026-12-01T09:30:00.123Z'
const RUNS = Number(process.env.FUZZ_RUNS ?? 1000)

/** What pipelines send: declared attributes, each once, in the table's order. */
const ordinary = fc.constantFrom(...Object.entries<MessageSpec>(MESSAGES).filter(([type]) => isRecorded(type))).chain(([type, { fields, attributes }]) =>
  fc
    .tuple(
      fc.tuple(...fields.map(value)),
      fc.subarray([...attributes]).chain((some) => fc.tuple(...some.map((field) => value(field).map((text) => [field.name, text])))),
    )
    .map(([required, given]): FieldValue[] => [type, ...required, ...given.flat(), ...(type === 'TOOL_CALL' ? repeatedMembers(required[2] as string) : [])]),
)

const inputs = fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.nat(), fc.boolean(), fc.constantFrom(null, ...TEXTS), fc.jsonValue()), { maxKeys: 4 })

function value({ type }: FieldSpec): fc.Arbitrary<string> {
  if (type === 'json') return inputs.map((input) => JSON.stringify(input))
  return type === 'integer' ? fc.nat().map(String) : fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom(...TEXTS))
}

t.test('the frame of a plain line is the one that parsing gives, whatever it holds', async (t) => {
  const { anyFields }: { anyFields: fc.Arbitrary<FieldValue[]> } = await import(`${root}/packages/message/build/test/support/arbitrary.js`)
  const recorded = anyFields.filter(([type]) => isRecorded(String(type)))
  let found = 0
  fc.assert(
    fc.property(fc.oneof(recorded, ordinary), (fields) => {
      found += agree(recordText(fields))
    }),
    { numRuns: RUNS },
  )
  for (const text of TEXTS) {
    found += agree(recordText(['TEXT', text]))
    found += agree(recordText(['TOOL_RESULT', 'c1', 'Bash', text, 'status', 'ok', 'exit_code', '1', 'summary', text, 'image', 'aa==']))
  }
  t.ok(found > RUNS / 4, `${found} of them were plain`)
})

t.test('a plain line that something has changed gives what parsing gives, or is left to the parser', async () => {
  const lines = [
    ['TEXT', 'a "b" \n é'],
    ['TOOL_CALL', 'Bash', 'c1', '{"command":"ls \\"a\\"","n":1,"all":true}', 'command', 'ls "a"', 'n', '1', 'all', 'true'],
    ['USAGE', '10', '20', '0', '5', 'model', 'm'],
    ['TOOL_RESULT', 'c1', 'Bash', '\x1b[1m', 'exit_code', '0'],
  ].map(recordText)
  const cut = fc.tuple(
    fc.constantFrom(...lines),
    fc.nat(200),
    fc.nat(3),
    fc.constantFrom('', '"', '\\', '\\u0041', '0', '-', ',', '}', '{', '\0', '\xff', '\xc3', ' ', 'é', '1e3', '"x":1,', 'null'),
  )
  fc.assert(
    fc.property(cut, ([line, at, removed, put]) => {
      agree(Buffer.concat([line.subarray(0, at), Buffer.from(put, 'latin1'), line.subarray(at + removed)]))
    }),
    { numRuns: RUNS },
  )
})

function recordText(fields: readonly FieldValue[]): Buffer {
  const bytes = frames([...fields])
  return Buffer.from(recordLine(new Frame(bytes, 0, bytes.length, 0), 7, TIME).trimEnd())
}

/** 1 where the line is plain, alone and among others; then what is made of it is what the parser gives. */
function agree(bytes: Buffer): number {
  if (bytes.includes(10)) return 0
  const entry = new PlainLines().entryIn(bytes)
  const lines = Buffer.concat([bytes, Buffer.from('\n')])
  const output = Buffer.alloc(4 * lines.length)
  const run = new PlainLines().run(lines, 0, false, output, 0)
  if (entry === undefined) {
    if (run.length > 0) throw new Error(`taken among others: ${bytes}`)
    return 0
  }
  const { entries, problems } = entriesIn({ bytes, head: bytes, tooLong: false, ended: true, start: 0, length: bytes.length })
  const [parsed] = entries
  const same =
    entries.length === 1 &&
    problems.length === 0 &&
    parsed?.frame.bytes.equals(entry.frame.bytes) &&
    output.subarray(0, run.length).equals(entry.frame.bytes) &&
    run.end === lines.length &&
    ['seq', 'time', 'type'].every((name) => parsed.record[name as 'seq'] === entry.record[name as 'seq'])
  if (!same) throw new Error(`other than parsed: ${bytes}`)
  return 1
}

t.test('a line that is not just that is left to the parser', async (t) => {
  const plain = new PlainLines()
  const line = (end: string, time = '2026-12-01T09:30:00.000Z') => Buffer.from(`{"v":1,"seq":1,"ts":"${time}","type":"text","text":"${end}`, 'latin1')
  t.ok(plain.entryIn(line('x"}')))
  for (const end of ['x', 'x"', 'x"} ', 'x","y":"z"}', 'x\\"}', 'x\\q"}', 'x\\u0080"}', 'x\\ud83d\\ude00"}', '\xff"}', 'x\0"}', 'x\n"}', '"', '}'])
    t.equal(plain.entryIn(line(end)), undefined, JSON.stringify(end))
  for (const time of ['2026-12-01T09:30:00.00Z0', 'xxxx-12-01T09:30:00.000Z', '']) t.equal(plain.entryIn(line('x"}', time)), undefined, time)
  t.equal(plain.entryIn(Buffer.from('{"v":1,"seq":,"ts"')), undefined)
  t.equal(plain.entryIn(Buffer.alloc(0)), undefined)
  const whole = line('a text"}')
  for (let cut = 0; cut < whole.length; cut++) t.equal(plain.entryIn(whole.subarray(0, cut)), undefined)
})
