import { type FieldValue, Frame } from '@agentpipe/frame'
import { messageSpec } from '@agentpipe/message'
import { printable, writeStderr } from './diagnostics.js'

/** Told of each frame that comes in (`<`) or goes out (`>`). */
export type Trace = (direction: '<' | '>', frame: Frame | readonly FieldValue[]) => void

/** With AGENTPIPE_TRACE=1 a trace that prints `tool-runner < TOOL_CALL id=c1` on stderr, else undefined. */
export function traceOf(name: string): Trace | undefined {
  if (process.env.AGENTPIPE_TRACE !== '1') return undefined
  return (direction, frame) => {
    const field = (index: number) => (frame instanceof Frame ? frame.text(index) : frame[index]?.toString()) ?? ''
    const type = field(0)
    const id = messageSpec(type)?.fields.findIndex((spec) => spec.name === 'id') ?? -1
    writeStderr(`${name} ${direction} ${type}${id < 0 ? '' : ` id=${printable(field(id + 1))}`}\n`)
  }
}
