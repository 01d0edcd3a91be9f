import { type Frame, FrameDecoder, FrameError } from '@agentpipe/frame'
import { checkMessage } from '@agentpipe/message'
import { command, type Diagnose, EXIT, type Input, Output, readInput, reason, StageError, systemError, usage, watchOwner } from '@agentpipe/stage'
import { CommandLines } from './command-lines.js'
import { openInput } from './merged-input.js'

/**
 * `resp commands [FILE]`: what stands in front of agent-loop where a program gives the commands: its lines of JSON as frames, and what comes round from FILE.
 * A PERMISSION_REQUEST that comes round does not go on, as the program is asked, who sees it among the events; once its input has ended, it does.
 */
export const commands = command({
  purpose: 'lines of JSON on stdin as commands, joined with FILE',
  options: {},
  operands: '[FILE]',
  examples: [`echo '{"type":"user_input","text":"hi"}' | resp commands | resp dump`, `echo 'no JSON' | resp commands | resp json`],
  act({ operands, diagnose, trace }) {
    const [file] = operands
    if (operands.length > 1 || file === '-') throw usage('commands reads stdin, and one FILE at most; see --help')
    process.on('SIGINT', () => {})
    const back = file === undefined ? undefined : openInput(file)
    return new Promise<number>((leave) => {
      const output = new Output({ trace })
      output.onClosed = () => leave(EXIT.OK)
      output.onError = (error) => {
        diagnose(`cannot write to standard output: ${reason(error)}`)
        leave(EXIT.IO)
      }
      watchOwner(() => leave(EXIT.UNAVAILABLE))
      new Commands({ output, diagnose, back: back?.descriptor }, (status) => void output.finished().then(() => leave(status)))
    })
  },
})

interface Places {
  readonly output: Output
  readonly diagnose: Diagnose
  readonly back: number | undefined
}

class Commands {
  readonly #places: Places
  readonly #leave: (status: number) => void
  readonly #input: Input
  readonly #back: Input | undefined
  /** What was asked and not answered. */
  readonly #requests = new Map<string, Frame>()
  #ended = false
  #status: number = EXIT.OK

  /** `leave` is called when there is no more to come: at the end of the way back, or of the commands where there is none. */
  constructor(places: Places, leave: (status: number) => void) {
    this.#places = places
    this.#leave = leave
    const lines = new CommandLines((frame) => this.#command(frame))
    this.#input = readInput(0, {
      chunk: (bytes) => this.#lines(() => this.#taken(() => lines.push(bytes))),
      end: () => {
        this.#lines(() => lines.end())
        this.#endOfCommands()
      },
      error: (error) => this.#fail(systemError(EXIT.IO, 'cannot read standard input', error)),
    })
    if (places.back !== undefined) this.#back = this.#readBack(places.back)
  }

  #lines(work: () => void): void {
    try {
      work()
    } catch (error) {
      if (!(error instanceof StageError)) throw error
      this.#fail(error)
    }
  }

  /** No commands can be read, or no more. What comes round still does. */
  #fail({ message, status }: StageError): void {
    this.#places.diagnose(message)
    this.#status = status
    this.#endOfCommands()
  }

  #readBack(descriptor: number): Input {
    const decoder = new FrameDecoder()
    const end = (work: () => void) => {
      try {
        work()
        this.#leave(this.#status)
      } catch (error) {
        this.#places.diagnose(reason(error))
        this.#leave(error instanceof FrameError ? EXIT.DATA : EXIT.IO)
      }
    }
    return readInput(descriptor, {
      chunk: (bytes) => {
        try {
          this.#taken(() => decoder.push(bytes, (frame) => this.#round(frame)))
        } catch (error) {
          this.#back?.stop()
          end(() => {
            throw error
          })
        }
      },
      end: () => end(() => decoder.end()),
      error: (error) =>
        end(() => {
          throw error
        }),
    })
  }

  #command(frame: Frame): void {
    if (this.#ended) return
    if (frame.type === 'PERMISSION') this.#requests.delete(frame.text(1) as string)
    if (frame.type === 'END') this.#endOfCommands()
    else this.#places.output.pass(frame)
  }

  #round(frame: Frame): void {
    if (frame.type === 'PERMISSION_REQUEST') {
      checkMessage(frame)
      this.#requests.set(frame.text(1) as string, frame.copy())
      if (!this.#ended) return
    }
    if (frame.type === 'TOOL_RESULT') this.#requests.delete(frame.text(1) ?? '')
    this.#places.output.pass(frame)
  }

  #endOfCommands(): void {
    if (this.#ended) return
    this.#ended = true
    // agent-loop denies what nobody is left to be asked for.
    for (const request of this.#requests.values()) this.#places.output.pass(request)
    this.#places.output.send(['END'])
    // Whoever writes may hold it open.
    setImmediate(() => this.#input.stop())
    if (this.#back === undefined) this.#leave(this.#status)
  }

  /** Takes a chunk; reads no more while what comes of it is not taken. */
  #taken(work: () => void): void {
    work()
    const { output } = this.#places
    output.flush()
    if (!output.backedUp) return
    this.#input.pause()
    this.#back?.pause()
    output.drained().then(() => {
      if (!this.#ended) this.#input.resume()
      this.#back?.resume()
    })
  }
}
