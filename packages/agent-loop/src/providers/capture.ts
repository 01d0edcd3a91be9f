import { readFileSync } from 'node:fs'
import { type Frame, FrameDecoder, FrameError } from '@agentpipe/frame'
import { checkMessage, type MessageOf, parseMessage } from '@agentpipe/message'
import { EXIT, StageError, systemError } from '@agentpipe/stage'
import { closesResponse } from '../conversation.js'
import { CapturedResponse } from './captured-response.js'

export type CapturedTurn = readonly CapturedResponse[]

/** The turns of a captured frame file. Throws StageError: 66 when it can't be read, 65 when it is malformed. */
export function readCapture(path: string): CapturedTurn[] {
  try {
    return turnsOf(readFileSync(path))
  } catch (error) {
    if (error instanceof FrameError) throw new StageError(EXIT.DATA, `${path}: ${error.message}`)
    throw systemError(EXIT.NO_INPUT, `cannot read ${path}`, error)
  }
}

/** Frames cut into turns, each to its STOP, and these into responses. A last turn without STOP counts. Throws FrameError. */
export function turnsOf(bytes: Buffer): CapturedTurn[] {
  const turns: CapturedTurn[] = []
  let cwd: string | undefined
  let turn = new Turn(cwd)
  const decoder = new FrameDecoder()
  decoder.push(bytes, (frame) => {
    checkMessage(frame)
    if (frame.type === 'HELLO') {
      cwd = (parseMessage(frame) as MessageOf<'HELLO'>).attributes.cwd
      if (turn.responses.length === 0) turn = new Turn(cwd)
    }
    turn.take(frame)
    if (frame.type !== 'STOP') return
    turns.push(turn.end(frame.text(1) as string))
    turn = new Turn(cwd)
  })
  decoder.end()
  if (turn.responses.length > 0) turns.push(turn.whole())
  return turns
}

/**
 * One turn being cut into responses: each to its USAGE, whatever results of runners stand between; behind the last USAGE, each to
 * the results.
 */
class Turn {
  readonly #closed: CapturedResponse[] = []
  /** What was said since the last USAGE, cut at the results: responses of their own, should no USAGE come any more. */
  #open: CapturedResponse[] = []
  /** How many of these RETRY has made void, if a USAGE does come. */
  #void = 0
  #answered = true
  #error = 'the captured turn ended in an error'
  readonly #cwd: string | undefined
  readonly #results = new Map<string, Frame>()

  constructor(cwd: string | undefined) {
    this.#cwd = cwd
  }

  get responses(): CapturedResponse[] {
    return [...this.#closed, ...this.#open]
  }

  take(frame: Frame): void {
    switch (frame.type) {
      case 'TEXT':
      case 'THINKING':
      case 'TOOL_CALL':
        if (this.#answered) this.#open.push(new CapturedResponse())
        this.#answered = false
        this.#open.at(-1)?.add(frame)
        break
      case 'TOOL_RESULT':
        this.#answered = true
        this.#results.set(frame.text(1) as string, frame)
        break
      case 'RETRY':
        if (!this.#answered) this.#open.pop()
        this.#answered = true
        this.#void = this.#open.length
        break
      case 'USAGE':
        this.#close(parseMessage(frame) as MessageOf<'USAGE'>)
        break
      case 'ERROR':
        this.#error = frame.text(1) as string
        break
    }
  }

  #close(usage: MessageOf<'USAGE'>): void {
    if (!closesResponse(usage)) return
    const response = new CapturedResponse()
    for (const part of this.#open.slice(this.#void)) response.append(part)
    response.usage = usage
    this.#closed.push(response)
    this.#open = []
    this.#void = 0
    this.#answered = true
  }

  /** The responses, with what is known of them now. */
  whole(): CapturedResponse[] {
    const responses = this.responses
    for (const response of responses) response.origin = { cwd: this.#cwd, results: this.#results }
    return responses
  }

  /** The responses, at least one; the last one says how the turn ended. */
  end(reason: string): CapturedResponse[] {
    const responses = this.whole()
    const calls = responses.at(-1)?.calls ?? true
    // After calls there was one more request, even if nothing came of it.
    if (responses.length === 0 || (calls && (reason === 'end_turn' || reason === 'error'))) responses.push(new CapturedResponse())
    const last = responses.at(-1) as CapturedResponse
    last.stop = reason
    if (reason === 'error') last.error = this.#error
    return responses
  }
}
