import { type FieldSpec, MESSAGES, type MessageSpec } from '@agentpipe/message'
import { isRecorded } from './record.js'

/** A member of a line that is a field of the frame. */
export interface Member {
  /** `,"content":` */
  readonly name: Buffer
  /** Of an attribute its key as a field; undefined for a positional field. */
  readonly key: Buffer | undefined
  /** A JSON value, whose text is the field. */
  readonly isJson: boolean
}

/** What lines of one type look like, and what their frames begin with. */
export interface Shape {
  /** `tool_result"` */
  readonly type: Buffer
  readonly members: readonly Member[]
  /** The frame between the number of its fields and the second of them. */
  readonly head: Buffer
}

/** More bytes than the frame of a plain line has: an input stands in it twice, and each of its members may be short. */
export function longestGrowth(lineBytes: number): number {
  return 4 * lineBytes
}

/** The shapes of the lines of all types that are recorded. */
export const shapesOfLines = (() => {
  const all = Object.entries<MessageSpec>(MESSAGES)
    .filter(([type]) => isRecorded(type))
    .map(([type, spec]) => shapeOf(type, spec))
  return { all, longest: Math.max(...all.map(({ members }) => members.length)) }
})()

function shapeOf(type: string, { fields, attributes }: MessageSpec): Shape {
  const member = ({ name, json = name, type: form }: FieldSpec, key: string | undefined): Member => ({
    name: Buffer.from(`,${JSON.stringify(json)}:`),
    key: key === undefined ? undefined : Buffer.from(`$${key.length}\r\n${key}\r\n`),
    isJson: form === 'json',
  })
  return {
    type: Buffer.from(`${type.toLowerCase()}"`),
    members: [...fields.map((field) => member(field, undefined)), ...attributes.map((field) => member(field, field.name))],
    head: Buffer.from(`\r\n$${type.length}\r\n${type}\r\n`),
  }
}
