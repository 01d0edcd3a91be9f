import { readFileSync } from 'node:fs'
import { type Frame, FrameDecoder, FrameError } from '@agentpipe/frame'
import { type MessageOf, parseMessage } from '@agentpipe/message'
import { EXIT, StageError, systemError } from '@agentpipe/stage'

/** What a model said in one response: TEXT, THINKING and TOOL_CALL frames, and what closed it. */
export interface CapturedResponse {
  readonly frames: Frame[]
  usage?: MessageOf<'USAGE'>
  /** The reason of the turn's STOP, on the last response of a turn. */
  stop?: string
  /** What went wrong where the turn ended in an error. */
  error?: string
}

export type CapturedTurn = readonly CapturedResponse[]

const MODEL_TYPES: ReadonlySet<string> = new Set(['TEXT', 'THINKING', 'TOOL_CALL'])

/** The turns of a captured frame file. Throws StageError: 66 when it can't be read, 65 when it is malformed. */
export function readCapture(path: string): CapturedTurn[] {
  const frames: Frame[] = []
  const decoder = new FrameDecoder()
  try {
    decoder.push(readFileSync(path), (frame) => frames.push(frame))
    decoder.end()
    return turnsOf(frames)
  } catch (error) {
    if (error instanceof FrameError) throw new StageError(EXIT.DATA, `${path}: ${error.message}`)
    throw systemError(EXIT.NO_INPUT, `cannot read ${path}`, error)
  }
}

/** Frames cut into turns, each to its STOP, and these into responses. A last turn without STOP counts. */
export function turnsOf(frames: readonly Frame[]): CapturedTurn[] {
  const turns: CapturedTurn[] = []
  let start = 0
  frames.forEach(({ type }, index) => {
    if (type !== 'STOP' && index < frames.length - 1) return
    const turn = responsesOf(frames.slice(start, index + 1))
    start = index + 1
    if (turn.length > 0) turns.push(turn)
  })
  return turns
}

/**
 * The responses of one turn: each to its USAGE, whatever results of runners stand between; behind the last USAGE, each to the
 * results. RETRY voids what its response has said so far.
 */
function responsesOf(turn: readonly Frame[]): CapturedResponse[] {
  const lastUsage = turn.findLastIndex(({ type }) => type === 'USAGE')
  const responses: CapturedResponse[] = []
  let current: CapturedResponse = { frames: [] }
  let answered = false
  const close = () => {
    responses.push(current)
    current = { frames: [] }
    answered = false
  }
  turn.forEach((frame, index) => {
    if (MODEL_TYPES.has(frame.type)) {
      if (answered) close()
      current.frames.push(frame)
    } else if (frame.type === 'TOOL_RESULT') answered = index > lastUsage && current.frames.length > 0
    else if (frame.type === 'RETRY' && !answered) current.frames.length = 0
    else if (frame.type === 'USAGE') {
      current.usage = parseMessage(frame) as MessageOf<'USAGE'>
      close()
    }
  })
  if (current.frames.length > 0) close()
  return ended(turn, responses)
}

/** Says on the last response how the turn ended. After calls there was one more request, even if nothing came of it. */
function ended(turn: readonly Frame[], responses: CapturedResponse[]): CapturedResponse[] {
  const stop = turn.at(-1)
  if (stop?.type !== 'STOP') return responses
  const reason = (parseMessage(stop) as MessageOf<'STOP'>).reason
  const calls = responses.at(-1)?.frames.some(({ type }) => type === 'TOOL_CALL') ?? true
  if (calls && (reason === 'end_turn' || reason === 'error')) responses.push({ frames: [] })
  const last = responses.at(-1)
  if (last === undefined) return responses
  last.stop = reason
  const error = turn.findLast(({ type }) => type === 'ERROR')
  if (reason === 'error') last.error = error?.text(1) ?? 'the captured turn ended in an error'
  return responses
}
