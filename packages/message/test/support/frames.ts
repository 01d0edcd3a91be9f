import { encodeFrame, type FieldValue, Frame } from '@agentpipe/frame'

/** A frame of these fields. */
export function frameOf(fields: readonly FieldValue[]): Frame {
  const bytes = encodeFrame(fields)
  return new Frame(bytes, 0, bytes.length, 0)
}
