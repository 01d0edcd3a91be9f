import type { Frame } from '@agentpipe/frame'
import { messageSpec } from '@agentpipe/message'

/** The attributes of a frame whose type is known, by name: views of its bytes. Of one that is there twice the first counts. */
export function attributesOf(frame: Frame): ReadonlyMap<string, Buffer> {
  const attributes = new Map<string, Buffer>()
  for (let index = (messageSpec(frame.type)?.fields.length ?? 0) + 1; index + 1 < frame.count; index += 2) {
    const name = frame.text(index) as string
    if (!attributes.has(name)) attributes.set(name, frame.field(index + 1) as Buffer)
  }
  return attributes
}

/** Whether USAGE closes a response of the conversation: not the making of a summary, not a sub-agent's. */
export function closesResponse(usage: Frame): boolean {
  const kind = attributesOf(usage).get('kind')?.toString() ?? 'agent'
  return kind !== 'compact' && kind !== 'sub_agent'
}

/** A whole number of up to 15 digits, or undefined for anything else. */
export function wholeNumber(value: Buffer | undefined): number | undefined {
  if (value === undefined || value.length === 0 || value.length > 15) return undefined
  const text = value.toString('latin1')
  return /^\d+$/.test(text) ? Number(text) : undefined
}
