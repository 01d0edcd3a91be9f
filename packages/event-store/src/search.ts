import { jsonText } from '@agentpipe/message'
import { type Context, command, EXIT, printable, stateDirectory, usage } from '@agentpipe/stage'
import { type Block, blocksOf } from './blocks.js'
import { Progress } from './progress.js'
import { entriesOf, oneOfMany, readingOptions } from './reading.js'
import { allSessions, byLatestEvent, findSession, type Session } from './sessions.js'

/** As grep(1) has it. */
const NOTHING_FOUND = 1
/** Characters that are shown of a line, and of these, those in front of the match. */
const SHOWN = 160
const BEFORE = 40

const options = {
  'ignore-case': { type: 'flag', short: 'i', about: 'take capital and small letters as the same' },
  'fixed-strings': { type: 'flag', short: 'F', about: 'PATTERN is text, no regular expression' },
  json: { type: 'flag', about: 'a line of JSON for each' },
  ...readingOptions,
} as const

/** `event-store search PATTERN [ID]`: the lines of what was said, called and answered that match, over all sessions. */
export const search = command({
  purpose: 'print what matches in all sessions',
  options,
  operands: 'PATTERN [ID]',
  examples: ['event-store search -i HELLO', 'event-store search --json "hello|npm (test|run)" | jq -r .id | sort -u'],
  act(context) {
    const [, id] = context.operands
    const pattern = patternOf(context)
    const state = stateDirectory(context.options.dir)
    const sessions = id === undefined ? byLatestEvent(allSessions(state, context.diagnose)) : [findSession(state, id, context.diagnose)]
    const progress = new Progress(sessions)
    let found = false
    let status: number = EXIT.OK
    const diagnose = progress.around(context.diagnose)
    for (const session of sessions) {
      const looked = oneOfMany(diagnose, () => {
        for (const block of blocksOf(entriesOf({ diagnose }, session.log, { read: progress.read }))) {
          for (const line of matches(block.text, pattern)) {
            found = true
            progress.clear()
            print(context, session, block, line)
          }
          if (context.output.closed) return
        }
      })
      if (context.output.closed) return EXIT.OK
      status = Math.max(status, looked)
    }
    progress.clear()
    return status !== EXIT.OK || found ? status : NOTHING_FOUND
  },
})

function patternOf({ operands, options: given }: Context<typeof options>): RegExp {
  const [pattern] = operands
  if (pattern === undefined || pattern === '' || operands.length > 2) throw usage('expected a PATTERN, and perhaps the ID of a session')
  const source = given['fixed-strings'] ? pattern.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&') : pattern
  try {
    return new RegExp(source, given['ignore-case'] ? 'iu' : 'u')
  } catch (error) {
    throw usage(`${(error as Error).message.replace(/^Invalid regular expression: /, 'invalid regular expression ')}; -F takes it as text`)
  }
}

/** The lines that match, cut around what does. */
function* matches(text: string, pattern: RegExp): Generator<string> {
  for (const line of text.split('\n')) {
    const match = pattern.exec(line)
    if (match === null) continue
    const start = line.length <= SHOWN ? 0 : Math.max(0, match.index - BEFORE)
    const end = start + SHOWN
    yield `${start > 0 ? '…' : ''}${line.slice(start, end).trimEnd()}${end < line.length ? '…' : ''}`
  }
}

function print({ options: given, output }: Context<typeof options>, { id, project, log }: Session, { seq, time, type, name }: Block, line: string): void {
  const kind = type.toLowerCase()
  output.write(
    given.json
      ? `${jsonText({ id, project, seq, ts: time, type: kind, ...(name === undefined ? {} : { name }), line, path: log })}\n`
      : `${id}:${seq}:${kind}: ${printable(line.trimStart())}\n`,
  )
}
