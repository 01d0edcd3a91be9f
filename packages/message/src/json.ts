import { encodeFrame, type FieldValue, type Frame } from '@agentpipe/frame'
import { jsonText } from './json-text.js'
import { type FieldSpec, type MessageSpec, messageSpec } from './table.js'
import { repeatedMembers } from './tool-call.js'

/** A frame as a JSON object: `type` in lower case, then what messages(7) says. */
export type JsonFrame = { type: string } & Record<string, unknown>

/** A field in `extra`: its text, or its base64 where it is not UTF-8. */
type ExtraField = string | { base64: string }

const NOTHING: MessageSpec = { kind: 'event', fields: [], attributes: [], by: '', about: '' }

/**
 * A frame as a JSON object, lossless: `fromJson` gives the same bytes back, for every frame.
 *
 * Declared fields and attributes are members, everything else stands in order in `extra`. `order` is there only where the
 * attributes are not in the table's order with the undeclared ones behind them: it names each pair, null for one of `extra`.
 */
export function toJson(frame: Frame): JsonFrame {
  const spec = knownSpec(frame)
  const object: JsonFrame = { type: frame.type.toLowerCase() }
  for (const [index, field] of spec.fields.entries()) putMember(object, field, frame.field(index + 1) as Buffer)
  const extra: ExtraField[] = []
  const order: (string | null)[] = []
  let index = spec.fields.length + 1
  for (; index + 1 < frame.count; index += 2) {
    const [key, value] = [frame.field(index) as Buffer, frame.field(index + 1) as Buffer]
    const attribute = declaredAttribute(spec, key)
    if (attribute !== undefined && !order.includes(attribute.name)) {
      order.push(attribute.name)
      putMember(object, attribute, value)
    } else {
      order.push(null)
      extra.push(extraField(key), extraField(value))
    }
  }
  if (index < frame.count) extra.push(extraField(frame.field(index) as Buffer))
  putExtra(object, frame, extra)
  if (!isTableOrder(spec, order)) object.order = order
  return object
}

/** One line of JSON, without its LF. */
export function toJsonLine(frame: Frame): string {
  return jsonText(toJson(frame))
}

/** The bytes of the frame that `toJson` made `object` of. Members that it never writes are ignored. Throws TypeError if it is no such object. */
export function fromJson(object: unknown): Buffer {
  if (typeof object !== 'object' || object === null) throw new TypeError('expected a JSON object')
  const members = object as Record<string, unknown>
  if (typeof members.type !== 'string') throw new TypeError('expected a member "type" that is a string')
  const type = members.type.toUpperCase()
  const known = messageSpec(type)
  const spec = known?.fields.every((field) => takeMember(members, field) !== undefined) ? known : NOTHING
  const fields: FieldValue[] = [type]
  for (const field of spec.fields) fields.push(takeMember(members, field) as FieldValue)
  return encodeFrame([...fields, ...attributeFields(spec, members, takeExtra(type, members))])
}

/** A frame with fewer fields than its type has is kept as it is, under `extra`. */
function knownSpec(frame: Frame): MessageSpec {
  const spec = messageSpec(frame.type)
  return spec !== undefined && frame.count > spec.fields.length ? spec : NOTHING
}

function declaredAttribute(spec: MessageSpec, key: Buffer): FieldSpec | undefined {
  return spec.attributes.find(({ name }) => key.equals(Buffer.from(name)))
}

function isTableOrder(spec: MessageSpec, order: readonly (string | null)[]): boolean {
  const ranks = order.map((name) => (name === null ? spec.attributes.length : spec.attributes.findIndex((field) => field.name === name)))
  return ranks.every((rank, index) => index === 0 || rank >= (ranks[index - 1] as number))
}

function putExtra(object: JsonFrame, frame: Frame, extra: ExtraField[]): void {
  // No `extra` on a TOOL_CALL means the members of its input: they are written only where they differ, an empty list too.
  const derived = frame.type === 'TOOL_CALL' && frame.count > 3 ? repeatedMembers(frame.text(3) as string) : []
  const asDerived = extra.length === derived.length && extra.every((field, index) => field === derived[index])
  if (!asDerived) object.extra = extra
}

function takeExtra(type: string, members: Record<string, unknown>): FieldValue[] {
  if (Array.isArray(members.extra)) return members.extra.map(fromExtraField)
  const input = takeMember(members, { name: 'input', type: 'json', about: '' })
  return type === 'TOOL_CALL' && input !== undefined ? repeatedMembers(input.toString()) : []
}

function attributeFields(spec: MessageSpec, members: Record<string, unknown>, extra: FieldValue[]): FieldValue[] {
  const order = Array.isArray(members.order) ? members.order : spec.attributes.map(({ name }) => name)
  const fields: FieldValue[] = []
  const rest = [...extra]
  for (const name of order) {
    const attribute = spec.attributes.find((field) => field.name === name)
    const value = attribute === undefined ? undefined : takeMember(members, attribute)
    if (attribute !== undefined && value !== undefined) fields.push(attribute.name, value)
    else if (name === null) fields.push(...rest.splice(0, 2))
  }
  return [...fields, ...rest]
}

/** `value` as the member of its name, or under a marked name where the type's own form would not give the same bytes. */
function putMember(object: JsonFrame, field: FieldSpec, value: Buffer): void {
  const name = field.json ?? field.name
  const text = utf8(value)
  if (text === undefined) object[`${name}_base64`] = value.toString('base64')
  else if (field.type === 'integer') object[name] = isInteger(text) ? Number(text) : text
  else if (field.type === 'json') putJson(object, name, text)
  else object[name] = text
}

function putJson(object: JsonFrame, name: string, text: string): void {
  try {
    const value: unknown = JSON.parse(text)
    if (JSON.stringify(value) === text) {
      object[name] = value
      return
    }
  } catch {}
  object[`${name}_text`] = text
}

function takeMember(members: Record<string, unknown>, field: FieldSpec): FieldValue | undefined {
  const name = field.json ?? field.name
  const base64 = members[`${name}_base64`]
  if (typeof base64 === 'string') return Buffer.from(base64, 'base64')
  const text = members[`${name}_text`]
  if (field.type === 'json' && typeof text === 'string') return text
  const value = members[name]
  if (value === undefined) return undefined
  return field.type !== 'json' && typeof value === 'string' ? value : JSON.stringify(value)
}

function extraField(value: Buffer): ExtraField {
  return utf8(value) ?? { base64: value.toString('base64') }
}

function fromExtraField(field: unknown): FieldValue {
  if (typeof field === 'string') return field
  const base64 = (field as { base64?: unknown } | null)?.base64
  if (typeof base64 !== 'string') throw new TypeError('expected strings, or objects with "base64", in "extra"')
  return Buffer.from(base64, 'base64')
}

const LONG_BYTES = 16 * 1024
const SPACE = 0x20

/**
 * Whether a third of the bytes are control characters, which take six characters each in JSON. Of a frame as large as there may
 * be, the line would be longer than a string can be.
 */
function swells(bytes: Buffer): boolean {
  let count = 0
  for (let at = 0; at < bytes.length; at++) if ((bytes[at] as number) < SPACE) count++
  return count * 3 > bytes.length
}

function isInteger(text: string): boolean {
  return Number.isSafeInteger(Number(text)) && String(Number(text)) === text && text !== '-0'
}

let decoder: InstanceType<typeof TextDecoder> | undefined

/** The text of UTF-8 bytes, or undefined if they are not UTF-8, or better not written as text. */
function utf8(bytes: Buffer): string | undefined {
  if (bytes.length > LONG_BYTES && swells(bytes)) return undefined
  decoder ??= new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  try {
    return decoder.decode(bytes)
  } catch {
    return undefined
  }
}
