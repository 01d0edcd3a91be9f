import { encodeFrame, type FieldValue, type Frame, FrameDecoder } from '@agentpipe/frame'
import { Renderer, type RenderOptions } from '../src/renderer.js'

export const OPTIONS: RenderOptions = {
  width: 80,
  depth: 0,
  thinking: 'show',
  toolOutput: 10,
  toolColours: true,
  theme: { name: 'dark', changes: {} },
  usage: false,
  wrapCode: false,
  links: false,
}

/** The chunks of a capture as text, by the renderer alone. */
export function renderChunks(chunks: Iterable<Uint8Array>, options: Partial<RenderOptions> = {}): string {
  const renderer = new Renderer({ ...OPTIONS, ...options })
  const decoder = new FrameDecoder()
  let text = ''
  for (const chunk of chunks) {
    decoder.push(chunk, (frame: Frame) => renderer.frame(frame))
    text += renderer.take()
  }
  renderer.end()
  return text + renderer.take()
}

/** Frames, each given as its fields, as text. */
export function render(frames: readonly (readonly FieldValue[])[], options: Partial<RenderOptions> = {}): string {
  return renderChunks(
    frames.map((fields) => encodeFrame(fields)),
    options,
  )
}
