import { command } from '@agentpipe/stage'
import { blocksOf } from './blocks.js'
import type { Line } from './lines.js'
import { type Damaged, entriesIn, logLines, tellProblems } from './log-reader.js'
import { markdown } from './markdown.js'
import { PlainLines } from './plain-line.js'
import { type Watched, withProgress } from './progress.js'
import { entriesOf, framesOf, readingOptions, sessionFile, telling } from './reading.js'
import type { Session } from './sessions.js'

const options = {
  format: { type: 'text', value: 'FORMAT', choices: ['resp', 'jsonl', 'md'], default: 'md', about: 'frames, lines of the log, or a document' },
  ...readingOptions,
} as const

const LF = Buffer.from('\n')

/** `event-store export ID`: a session for other programs, or for people. */
export const exportSession = command({
  purpose: 'print a session as frames, JSON lines or Markdown',
  options,
  operands: 'ID',
  examples: ['event-store export latest > session.md', 'event-store export latest --format jsonl | jq .type'],
  act(context) {
    const session = sessionFile(context)
    const pieces = FORMATS[context.options.format]
    return withProgress(context.diagnose, session.log, (watched) => {
      for (const piece of pieces(watched, session)) {
        context.output.write(piece)
        if (context.output.closed) return
      }
    })
  },
})

type Pieces = (watched: Watched, session: Session) => Iterable<Buffer | string>

const FORMATS: Readonly<Record<'resp' | 'jsonl' | 'md', Pieces>> = {
  resp: (watched, { log }) => framesOf(watched, log),
  jsonl: (watched, { log }) => wholeLines(watched, log),
  md: (watched, session) => markdown(session, blocksOf(entriesOf(watched, session.log, { read: watched.read }))),
}

/** The lines of a log as they stand, a record each, and behind each its LF; good until the next piece is asked for. What is damaged is told of and left out. */
export function* wholeLines(watched: Watched, log: string, toSeq = Number.POSITIVE_INFINITY): Generator<Buffer> {
  for (const { seq, bytes } of telling(watched, log, (damaged) => recordsIn(log, damaged, watched.read))) {
    if (seq > toSeq) continue
    yield bytes
    yield LF
  }
}

function* recordsIn(log: string, damaged: Damaged, read: (bytes: number) => void): Generator<{ seq: number; bytes: Buffer }> {
  const plain = new PlainLines()
  let number = 0
  for (const line of logLines(log)) {
    read(line.length)
    yield* recordsOn(line, ++number, plain, damaged)
  }
}

function recordsOn(line: Line, number: number, plain: PlainLines, damaged: Damaged): { seq: number; bytes: Buffer }[] {
  const { bytes } = line
  const record = plain.recordIn(bytes)
  if (record !== undefined) return [{ seq: record.seq, bytes }]
  const { entries, pieces, problems } = entriesIn(line)
  tellProblems(line, problems, number, damaged)
  return entries.map(({ record: { seq } }, index) => ({ seq, bytes: pieces[index] ?? bytes }))
}
