import { Frame } from '@agentpipe/frame'
import { checkMessage, fromJson, jsonText, messageSpec, toJson, toJsonLine } from '@agentpipe/message'

/** Characters in a record at the most: well below the longest string that V8 makes, since it is also read as one. */
export const LONGEST_TEXT = 2 ** 28
/** Text members that are longer go as base64 in a record that would be too long. */
const SHORT_TEXT = 1024

/** One line of a log, parsed. `members` is the whole object. */
export interface EventRecord {
  /** Number of the event in its session, from 1. */
  readonly seq: number
  /** When it was recorded: ISO 8601, milliseconds, UTC. */
  readonly time: string
  /** The frame's type, as frames spell it. */
  readonly type: string
  readonly members: Record<string, unknown>
}

/** An object that is a record of another version, or of a type that we don't know: whole, but nothing that can be used here. */
export class UnknownRecord extends TypeError {}

/** Whether frames of this type are recorded: events, and HELLO. */
export function isRecorded(type: string): boolean {
  return type === 'HELLO' || messageSpec(type)?.kind === 'event'
}

/** The line of a log, its LF included, for a frame. `frameOf` gives the same frame back, whatever its fields hold. */
export function recordLine(frame: Frame, seq: number, time: string): string {
  return `{"v":1,"seq":${seq},"ts":"${time}",${memberText(frame).slice(1)}\n`
}

/** The record that an object from a log is. Throws TypeError, whose message says what is wrong with it. */
export function recordOf(value: unknown): EventRecord {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new TypeError('not an object')
  const members = value as Record<string, unknown>
  const { v, seq, ts, type } = members
  if (v !== 1) throw typeof v === 'number' ? new UnknownRecord('of another version than 1') : new TypeError('not a record: no "v" that is 1')
  if (!Number.isSafeInteger(seq)) throw new TypeError('without a "seq" that is a number')
  if (typeof ts !== 'string' || Number.isNaN(Date.parse(ts))) throw new TypeError('without a "ts" that is a time')
  if (typeof type !== 'string') throw new TypeError('without a "type"')
  if (!isRecorded(type.toUpperCase())) throw new UnknownRecord(`of an unknown type, ${JSON.stringify(type.slice(0, 64))}`)
  return { seq: seq as number, time: ts, type: type.toUpperCase(), members }
}

/** The recorded frame, byte for byte. Throws TypeError, RangeError or FrameError where the record does not hold a whole message. */
export function frameOf({ members }: EventRecord): Frame {
  const bytes = fromJson(members)
  const frame = new Frame(bytes, 0, bytes.length, 0)
  checkMessage(frame)
  return frame
}

function memberText(frame: Frame): string {
  try {
    const text = toJsonLine(frame)
    if (text.length <= LONGEST_TEXT) return text
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
  }
  // A control character is one byte in a frame and six in JSON: 64 MiB of them would be past the longest string.
  return jsonText(inBase64(toJson(frame)))
}

function inBase64(members: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(members).map(([name, value]) => {
      if (name === 'extra') return [name, (value as unknown[]).map((field) => (isLong(field) ? { base64: base64(field) } : field))]
      if (name === 'type' || name.endsWith('_base64') || !isLong(value)) return [name, value]
      return [`${name.replace(/_text$/, '')}_base64`, base64(value)]
    }),
  )
}

function isLong(value: unknown): value is string {
  return typeof value === 'string' && value.length > SHORT_TEXT
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}
