import { type MessageOf, parseMessage, parseObject } from '@agentpipe/message'
import { printable } from '@agentpipe/stage'
import type { Answer } from '../provider.js'
import type { CapturedResponse } from './captured-response.js'

/** How much of a line is shown, in characters. */
const SHOWN = 100

/** A number with a unit of time behind it, or its name in front. */
const DURATION = /\b\d+(?:\.\d+)?\s?(?:ns|µs|us|ms|s|secs?|seconds?|min)\b|\b(?:duration_ms|time|elapsed)[ =:]+\d+(?:\.\d+)?\b/g

/**
 * Where tools answered the calls of a captured response otherwise than in the capture, a line each: status, exit code and output are compared,
 * to the first line that differs. What differs by nature is taken as equal: durations, the working directory that HELLO names, and where a
 * whole output was written to. What the capture has no result of is not compared. `answers` are those to the calls that were made, in their order.
 */
export function divergences(response: CapturedResponse, answers: readonly Answer[], directory: string | undefined): string[] {
  const calls = [...response.frames()].flatMap((frame) => (frame.type === 'TOOL_CALL' ? [parseMessage(frame) as MessageOf<'TOOL_CALL'>] : []))
  const made = calls.filter(({ input }) => parseObject(input) !== undefined)
  return answers.flatMap((answer, at) => {
    const call = made[at]
    const recorded = call && response.origin?.results.get(call.id)
    if (recorded === undefined) return []
    const difference = differenceOf(parseMessage(recorded) as MessageOf<'TOOL_RESULT'>, answer, [response.origin?.cwd, directory])
    return difference === undefined ? [] : [`call ${at + 1} (${printable(answer.name.slice(0, SHOWN))}): ${difference}`]
  })
}

function differenceOf({ output, attributes }: MessageOf<'TOOL_RESULT'>, found: Answer, directories: readonly (string | undefined)[]): string | undefined {
  const { status = 'ok', exit_code: exitCode, full_output: fullOutput } = attributes
  if (status !== found.status) return expected('status', status, found.status)
  if (exitCode !== undefined && exitCode !== found.exitCode) return expected('exit code', exitCode, found.exitCode ?? 'none')
  const [from, to] = directories
  return firstDifference(moved(moved(output, fullOutput, found.fullOutput), from, to).split('\n'), found.output.split('\n'))
}

function firstDifference(before: readonly string[], now: readonly string[]): string | undefined {
  for (let line = 0; line < Math.max(before.length, now.length); line++) {
    if (before[line] !== now[line] && timeless(before[line]) !== timeless(now[line])) return expected(`line ${line + 1}`, before[line], now[line])
  }
  return undefined
}

/** A line without the durations in it: `passed in 1.2s`, `duration_ms 47`. */
function timeless(line: string | undefined): string | undefined {
  return line?.replace(DURATION, '<duration>')
}

/** Lines that are equal as far as they are shown are shown from where they differ. */
function expected(what: string, before: string | undefined, now: string | undefined): string {
  let start = 0
  if (before !== undefined && now !== undefined) {
    while (before[start] === now[start]) start++
    start = start < SHOWN / 2 ? 0 : start - 20
  }
  const show = (text: string | undefined) =>
    text === undefined ? 'nothing' : `"${start > 0 ? '...' : ''}${printable(text.slice(start, start + SHOWN))}${text.length > start + SHOWN ? '...' : ''}"`
  return `${what}: expected ${show(before)}, found ${show(now)}`
}

/** `text` with a path in it replaced, where it is not the beginning of another name. */
function moved(text: string, from: string | undefined, to: string | undefined): string {
  if (from === undefined || to === undefined || from === to || from.length < 2) return text
  return text.split(from).reduce((done, next) => `${done}${/^[\w-]/.test(next) ? from : to}${next}`)
}
