import { type Frame, FrameDecoder } from '@agentpipe/frame'
import type { Context } from './command.js'
import { EXIT, systemError } from './exit-status.js'
import { readChunks } from './input.js'

/**
 * Calls `each` with every frame of a descriptor, for a command that does nothing else meanwhile; what it wrote goes out after
 * each chunk. Ends early when the reader of the output is gone. Throws FrameError where the input is malformed, after the
 * frames before it were dealt with and written.
 */
export function eachFrame({ output, trace }: Pick<Context, 'output' | 'trace'>, descriptor: number, each: (frame: Frame) => void): void {
  const decoder = new FrameDecoder()
  try {
    for (const chunk of chunksOf(descriptor)) {
      decoder.push(chunk, (frame) => {
        trace?.('<', frame)
        each(frame)
      })
      output.flush()
      if (output.closed) return
    }
    decoder.end()
  } finally {
    output.flush()
  }
}

function* chunksOf(descriptor: number): Generator<Buffer> {
  try {
    yield* readChunks(descriptor)
  } catch (error) {
    throw systemError(EXIT.IO, 'cannot read input', error)
  }
}
