import { DEFAULT_LIMITS, encodeFrame } from '@agentpipe/frame'
import { messageFields } from './message.js'

/**
 * The attributes that repeat the top-level members of a TOOL_CALL's input: key, value, key, value ... Strings stand as
 * they are, other values as JSON. Keys that begin with `@` are ours and are left out. Empty where `input` is no JSON object.
 */
export function repeatedMembers(input: string): string[] {
  const object = parseObject(input)
  if (object === undefined) return []
  const members = Object.entries(object).filter(([key]) => !key.startsWith('@'))
  try {
    return members.flatMap(([key, value]) => [key, typeof value === 'string' ? value : JSON.stringify(value)])
  } catch {
    // JSON.parse takes any depth, JSON.stringify runs out of stack: such an input has no repeated members.
    return []
  }
}

/** `text` as a JSON object, or undefined if it is none. */
export function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

/**
 * A TOOL_CALL as a frame's bytes, the members of `input` (a JSON object, as text) repeated unless the frame would be
 * past the limits. Throws RangeError when it is past them even so.
 */
export function buildToolCall(name: string, id: string, input: string, opaque?: string): Buffer {
  const fields = messageFields('TOOL_CALL', [name, id, input], { '@opaque': opaque })
  const members = repeatedMembers(input)
  // A UTF-16 unit of the input is at most 3 bytes in it and 6 in a member (half of a surrogate pair, as JSON).
  const fits = fields.length + members.length <= DEFAULT_LIMITS.fields && input.length * 12 <= DEFAULT_LIMITS.frameBytes
  return encodeFrame(fits ? [...fields, ...members] : fields)
}
