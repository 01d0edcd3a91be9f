import { type FieldValue, FrameDecoder, FrameError } from '@agentpipe/frame'
import { fieldsOf, framesOf } from '@agentpipe/testing'
import t from 'tap'
import { buildMessage, checkMessage, MESSAGES, type MessageSpec, type MessageType, messageSpec, parseMessage } from '../src/index.js'
import { frameOf } from './support/frames.js'

const build = buildMessage as (type: MessageType, fields: readonly FieldValue[], attributes?: Readonly<Record<string, FieldValue>>) => Buffer

for (const [type, spec] of Object.entries<MessageSpec>(MESSAGES)) {
  t.test(`${type}: built and parsed`, async (t) => {
    const fields = spec.fields.map(({ name }) => `${name} é\r\n`)
    const attributes = Object.fromEntries(spec.attributes.map(({ name }) => [name, `value of ${name}`]))
    const [frame] = framesOf(build(type as MessageType, fields, attributes))
    t.same(frame && parseMessage(frame), {
      type,
      ...Object.fromEntries(spec.fields.map(({ name }, index) => [name, fields[index]])),
      attributes,
    })
    const [bare] = framesOf(build(type as MessageType, fields))
    t.same(bare && parseMessage(bare)?.attributes, {}, 'attributes may all be left out')
  })

  t.test(`${type}: a frame with too few fields is malformed, at its own offset`, async (t) => {
    for (let count = 0; count < spec.fields.length; count++) {
      const bytes = Buffer.concat([frameOf(['TEXT', 'before']).bytes, frameOf([type, ...Array<string>(count).fill('x')]).bytes])
      const decoder = new FrameDecoder()
      try {
        decoder.push(bytes, (frame) => parseMessage(frame))
        t.fail(`${count} fields`)
      } catch (error) {
        t.ok(error instanceof FrameError)
        t.match(error, { offset: 26, message: new RegExp(`${type} with ${spec.fields.length} fields .* at byte 26, found ${count}$`) })
      }
    }
    t.doesNotThrow(() => checkMessage(frameOf([type, ...Array<string>(spec.fields.length).fill('')])), 'empty fields are fields')
  })
}

t.test('the table: names are told apart, in frames and in JSON', async (t) => {
  for (const [type, { fields, attributes }] of Object.entries<MessageSpec>(MESSAGES)) {
    t.match(type, /^[A-Z][A-Z0-9_]*$/)
    const wire = attributes.map(({ name }) => name)
    t.equal(new Set(wire).size, wire.length, type)
    const json = [...fields, ...attributes].flatMap(({ name, json = name }) => [json, `${json}_text`, `${json}_base64`])
    t.equal(new Set([...json, 'type', 'extra', 'order', 'v', 'seq', 'ts']).size, json.length + 6, type)
  }
})

t.test('types that we do not know are no messages, and no error', async (t) => {
  for (const type of ['MY_OWN', 'TEXTS', 'CONSTRUCTOR', 'A']) {
    t.equal(messageSpec(type), undefined)
    t.equal(parseMessage(frameOf([type])), undefined)
    t.doesNotThrow(() => checkMessage(frameOf([type])))
  }
  for (const name of ['constructor', '__proto__', 'toString']) t.equal(messageSpec(name), undefined)
})

t.test('attributes: unknown ones are left out, of two the first counts, a key without a value is none', async (t) => {
  const attributes = (...rest: string[]) => parseMessage(frameOf(['TOOL_RESULT', 'c1', 'Bash', '', ...rest]))?.attributes
  t.same(attributes('own', 'x', 'status', 'ok'), { status: 'ok' })
  t.same(attributes('status', 'ok', 'status', 'error'), { status: 'ok' })
  t.same(attributes('status'), {})
  t.same(attributes('own', 'status', 'status', 'ok'), { status: 'ok' }, 'a value that looks like a key')
  t.same(attributes('__proto__', 'x', 'constructor', 'y'), {})
  t.same(attributes('STATUS', 'ok'), {})
})

t.test('building: attributes in the order of the table, undefined left out, numbers written down', async (t) => {
  const bytes = buildMessage('TOOL_RESULT', ['c1', 'Bash', 'x'], { duration_ms: 12, status: 'ok', signal: undefined, exit_code: 0 })
  t.same(fieldsOf(bytes), [['TOOL_RESULT', 'c1', 'Bash', 'x', 'status', 'ok', 'exit_code', '0', 'duration_ms', '12']])
})
