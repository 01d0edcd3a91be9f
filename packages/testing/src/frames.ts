import { encodeFrame, type FieldValue, type Frame, FrameDecoder } from '@agentpipe/frame'

/** Frames as bytes, each given as its fields. */
export function frames(...list: readonly (readonly FieldValue[])[]): Buffer {
  return Buffer.concat(list.map((fields) => encodeFrame(fields)))
}

/** The frames in `bytes`, each as its fields' text. Throws FrameError where they are malformed or cut. */
export function fieldsOf(bytes: Uint8Array): string[][] {
  return framesOf(bytes).map((frame) => frame.fields().map((field) => field.toString()))
}

/** The frames in `bytes`. */
export function framesOf(bytes: Uint8Array): Frame[] {
  const list: Frame[] = []
  const decoder = new FrameDecoder()
  decoder.push(bytes, (frame) => list.push(frame))
  decoder.end()
  return list
}
