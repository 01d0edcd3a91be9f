import type { FieldValue } from '@agentpipe/frame'
import fc from 'fast-check'
import { type FieldSpec, MESSAGES, type MessageSpec, type ValueType } from '../../src/index.js'

const octets = fc.uint8Array({ maxLength: 20 }).map((bytes): FieldValue => Buffer.from(bytes))

/** JSON that JSON.stringify would not write like that, and what only looks like JSON. */
const ugly = [
  '{ "a": 1 }',
  '{"a":1,"a":2}',
  '{"b":1,"a":2}',
  '{"2":1,"1":2}',
  '{"a":1.0}',
  '{"a":1e2}',
  '{"a":-0}',
  '{"a":"\\u0061"}',
  '{"a":"\\ud800"}',
  '{"a":"\ufeff"}',
  '\ufeff{}',
  '{"__proto__":{"x":1}}',
  '{"constructor":1,"toString":"x"}',
  '{"@opaque":"x","b":"y"}',
  '{"":""}',
  '{"a":12345678901234567890}',
  '[1]',
  'null',
  '"text"',
  '1',
  '',
  '{',
  '{}',
  '{"a":null,"b":[],"c":{}}',
  '{"a":"x\\r\\ny"}',
  `${'['.repeat(500)}${']'.repeat(500)}`,
  `${'{"a":'.repeat(200)}1${'}'.repeat(200)}`,
]

const values: Readonly<Record<ValueType, fc.Arbitrary<FieldValue>>> = {
  text: fc.oneof(fc.string({ unit: 'binary' }), octets, fc.constantFrom('\ufeff', '\ufeffx', '\u2028', '\0', '\ud800')),
  integer: fc.oneof(
    fc.integer().map(String),
    fc.constantFrom('007', '+1', '-0', '1.0', '1e3', '', ' 1', '9007199254740993', '0x10', 'NaN', 'Infinity', 'null', 'true', '"1"'),
    octets,
  ),
  json: fc.oneof(fc.json(), fc.dictionary(fc.string(), fc.jsonValue()).map(JSON.stringify), fc.constantFrom(...ugly), octets),
}

const anything = fc.oneof(values.text, values.integer, values.json)

/** Any fields at all behind a type: too few, too many, of any order. */
const shapeless = fc.tuple(
  fc.oneof(fc.constantFrom(...Object.keys(MESSAGES)), fc.stringMatching(/^[A-Z][A-Z0-9_]{0,8}$/)),
  fc.array(anything, { maxLength: 9 }),
)

/** A message with its positional fields, declared attributes in any order and number, undeclared ones, and perhaps a key without a value. */
const message = fc
  .constantFrom(...Object.entries<MessageSpec>(MESSAGES))
  .chain(([type, spec]) =>
    fc
      .tuple(fc.tuple(...spec.fields.map(fieldValue)), fc.array(attribute(spec), { maxLength: 6 }), fc.array(anything, { maxLength: 1 }))
      .map(([fields, attributes, odd]): [string, FieldValue[]] => [type, [...fields, ...attributes.flat(), ...odd]]),
  )

function attribute(spec: MessageSpec): fc.Arbitrary<[FieldValue, FieldValue]> {
  const undeclared = fc.tuple(anything, anything)
  if (spec.attributes.length === 0) return undeclared
  const declared = fc.constantFrom(...spec.attributes).chain((field) => fc.tuple(fc.constant<FieldValue>(field.name), fieldValue(field)))
  return fc.oneof({ weight: 3, arbitrary: declared }, { weight: 1, arbitrary: undeclared })
}

function fieldValue(field: FieldSpec): fc.Arbitrary<FieldValue> {
  const known = field.values ?? []
  return known.length === 0 ? values[field.type] : fc.oneof(values[field.type], fc.constantFrom(...known))
}

/** The fields of any frame there can be, made from the table of messages. */
export const anyFields: fc.Arbitrary<FieldValue[]> = fc.oneof(shapeless, message).map(([type, rest]) => [type, ...rest])
