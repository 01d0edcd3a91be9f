import { command } from '@agentpipe/stage'
import { blocksOf } from './blocks.js'
import type { Line } from './lines.js'
import { entriesIn, logLines } from './log-reader.js'
import { markdown } from './markdown.js'
import { PlainLines } from './plain-line.js'
import { type Watched, withProgress } from './progress.js'
import { entriesOf, framesOf, readingOptions, sessionFile } from './reading.js'
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
  jsonl: ({ read }, { log }) => wholeLines(log, { read }),
  md: (watched, session) => markdown(session, blocksOf(entriesOf(watched, session.log, { read: watched.read }))),
}

/** The lines of a log as they stand, a record each, and behind each its LF; good until the next piece is asked for. What is damaged is left out. */
export function* wholeLines(
  log: string,
  { read, toSeq = Number.POSITIVE_INFINITY }: { read: (bytes: number) => void; toSeq?: number | undefined },
): Generator<Buffer> {
  const plain = new PlainLines()
  for (const line of logLines(log)) {
    read(line.length)
    for (const { seq, bytes } of recordsOn(line, plain)) {
      if (seq > toSeq) continue
      yield bytes
      yield LF
    }
  }
}

function recordsOn(line: Line, plain: PlainLines): { seq: number; bytes: Buffer }[] {
  const { bytes } = line
  const head = plain.recordIn(bytes)
  if (head !== undefined) return [{ seq: head.seq, bytes }]
  const { entries, pieces } = entriesIn(line)
  return entries.map(({ record: { seq } }, index) => ({ seq, bytes: pieces[index] ?? bytes }))
}
