import { constants, openSync } from 'node:fs'
import { FrameDecoder, FrameError } from '@agentpipe/frame'
import { messageFields } from '@agentpipe/message'
import { type Context, closeDescriptor, EXIT, type Output, readInput, reason, systemError } from '@agentpipe/stage'

export interface MergedInput {
  /** What it is called in messages. */
  readonly name: string
  readonly descriptor: number
  /** END is sent when it has ended. */
  readonly sendsEnd: boolean
}

/** Opens a FILE of `resp merge`. A FIFO that nobody writes yet is opened at once and waited for later. Throws StageError (66). */
export function openInput(file: string): MergedInput {
  if (file === '-') return { name: 'standard input', descriptor: 0, sendsEnd: true }
  try {
    return { name: file, descriptor: openSync(file, constants.O_RDONLY | constants.O_NONBLOCK), sendsEnd: false }
  } catch (error) {
    throw systemError(EXIT.NO_INPUT, `cannot open ${file}`, error)
  }
}

/**
 * Passes every frame of an input on; reads no more of it while `output` is backed up. Resolves at its end with a status: 0,
 * 65 where it was malformed or ended inside a frame, 74 where it could not be read. Then the other inputs still go on.
 */
export function mergeInput({ name, descriptor, sendsEnd }: MergedInput, context: Pick<Context, 'output' | 'diagnose' | 'trace'>): Promise<number> {
  const { output, diagnose, trace } = context
  const decoder = new FrameDecoder()
  return new Promise((resolve) => {
    const end = (status: number) => {
      if (sendsEnd) output.send(['END'])
      resolve(status)
    }
    const fail = (error: unknown) => {
      input.stop()
      // Whoever writes there learns that nobody reads it any more; stdin is not closed by that.
      if (sendsEnd) closeDescriptor(descriptor)
      diagnose(error instanceof FrameError ? `${name}: ${error.message}` : `cannot read ${name}: ${reason(error)}`)
      if (error instanceof FrameError) sendError(output, `resp: ${name}: ${error.message}`, error.offset)
      end(error instanceof FrameError ? EXIT.DATA : EXIT.IO)
    }
    const input = readInput(descriptor, {
      chunk: (bytes) => {
        try {
          decoder.push(bytes, (frame) => {
            trace?.('<', frame)
            output.pass(frame)
          })
          output.flush()
        } catch (error) {
          return fail(error)
        }
        if (!output.backedUp) return
        input.pause()
        output.drained().then(() => input.resume())
      },
      end: () => {
        try {
          decoder.end()
        } catch (error) {
          return fail(error)
        }
        end(EXIT.OK)
      },
      error: fail,
    })
  })
}

function sendError(output: Output, message: string, offset: number): void {
  output.send(messageFields('ERROR', [message], { code: 'malformed', source: 'resp', offset }))
}
