import { MESSAGES, type MessageSpec } from '@agentpipe/message'
import { isRecorded } from './record.js'

/** A member of a line that is a field of the frame. */
export interface Member {
  /** `,"content":` */
  readonly name: Buffer
  /** Of an attribute its key as a field; undefined for a positional field. */
  readonly key: Buffer | undefined
}

/** What lines of one type look like, and what their frames begin with. */
export interface Shape {
  /** `tool_result"` */
  readonly type: Buffer
  readonly members: readonly Member[]
  /** The frame up to its second field, by the number of attributes. */
  readonly heads: readonly Buffer[]
}

/** Line and frame differ by a few bytes a member, and a line has more in front of its first: no frame is longer than this. */
export function longestGrowth(lineBytes: number): number {
  return 2 * lineBytes
}

/** The shapes of the lines whose frames are made of their bytes: those without JSON in JSON. */
export const shapesOfLines = (() => {
  const plain = Object.entries<MessageSpec>(MESSAGES).filter(([type, { fields, attributes }]) => isRecorded(type) && [...fields, ...attributes].every(isPlain))
  const all = plain.map(([type, spec]) => shapeOf(type, spec))
  return { all, longest: Math.max(...all.map(({ members }) => members.length)) }
})()

function isPlain({ type }: MessageSpec['fields'][number]): boolean {
  return type !== 'json'
}

function shapeOf(type: string, { fields, attributes }: MessageSpec): Shape {
  const member = (name: string, key: string | undefined): Member => ({
    name: Buffer.from(`,${JSON.stringify(name)}:`),
    key: key === undefined ? undefined : Buffer.from(`$${key.length}\r\n${key}\r\n`),
  })
  return {
    type: Buffer.from(`${type.toLowerCase()}"`),
    members: [...fields.map(({ name, json = name }) => member(json, undefined)), ...attributes.map(({ name, json = name }) => member(json, name))],
    heads: Array.from({ length: attributes.length + 1 }, (_, count) => Buffer.from(`*${1 + fields.length + 2 * count}\r\n$${type.length}\r\n${type}\r\n`)),
  }
}
