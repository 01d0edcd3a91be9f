import { isUtf8 } from 'node:buffer'
import type { Hash } from 'node:crypto'
import { type FileHandle, readlink } from 'node:fs/promises'
import { fileError, openRegularFile } from '../file-kind.js'
import { imageType, LARGEST_IMAGE_BYTES } from '../image-kind.js'
import { NumberedLines } from '../numbered-lines.js'
import { absolutePath, realTarget } from '../paths.js'
import { newHash } from '../seen-files.js'
import type { Session } from '../session.js'
import { defineTool, type Outcome, type Tool } from '../tool.js'
import { ToolError } from '../tool-error.js'
import { asText } from '../utf8.js'

const CHUNK_BYTES = 64 * 1024
/** A file up to this size is read to its end, to count its lines and to know what was in it. */
const READ_TO_END_BYTES = 16 * 1024 ** 2

export function readTool(session: Session): Tool {
  return defineTool({
    name: 'Read',
    description:
      'Reads a text file, or an image. Lines come with their numbers and a tab in front, which are not part of the file. Long files come in parts: go on with offset. A relative path is relative to the workspace.',
    readOnly: true,
    judgesItself: true,
    inputSchema: {
      type: 'object',
      properties: {
        path: { type: 'string', description: 'The file' },
        offset: { type: 'integer', minimum: 0, description: 'Number of the first line wanted, from 1' },
        limit: { type: 'integer', minimum: 1, description: 'How many lines at most' },
      },
      required: ['path'],
    },
    async run({ path: name, offset = 1, limit = Infinity }, call) {
      const path = absolutePath(session.workspace, name)
      const file = await openRegularFile({ path, name })
      try {
        // What was opened is judged, not what its name led to a moment before.
        const target = await readlink(`/proc/self/fd/${file.fd}`).catch(() => realTarget(path))
        await session.permissions.obey(call, session.permissions.policy.read('Read', target), target)
        const image = await imageOf(file, name)
        if (image !== undefined) return image
        const window = { offset: Math.max(1, offset), limit, bytes: session.maxOutput }
        const reading = await readThrough(file, new NumberedLines(window), call.signal)
        if (reading.hash === undefined) session.seen.forget(target)
        else session.seen.sawHash(target, reading.hash)
        return outcomeOf(reading, name, window.offset)
      } catch (error) {
        throw fileError(name, error)
      } finally {
        await file.close()
      }
    },
  })
}

/** What Read answers for an image; undefined for another file. */
async function imageOf(file: FileHandle, name: string): Promise<Outcome | undefined> {
  const start = Buffer.alloc(12)
  const { bytesRead } = await file.read(start, 0, start.length, 0).catch(() => ({ bytesRead: 0 }))
  const type = imageType(start.subarray(0, bytesRead))
  if (type === undefined) return undefined
  const { size } = await file.stat()
  if (size > LARGEST_IMAGE_BYTES) throw new ToolError(`${name} is an image of ${size} bytes: at most ${LARGEST_IMAGE_BYTES} can be shown`)
  const data = (await file.readFile()).toString('base64')
  return { status: 'ok', output: `[${type}, ${size} bytes]`, summary: type, image: { data, type } }
}

interface Reading {
  readonly lines: NumberedLines
  /** Of the file, as far as it was read. */
  readonly bytes: number
  /** Of the whole content; undefined if it was not read to its end. */
  readonly hash: Hash | undefined
}

async function readThrough(file: FileHandle, lines: NumberedLines, signal: AbortSignal): Promise<Reading> {
  const hash = newHash()
  const buffer = Buffer.allocUnsafeSlow(CHUNK_BYTES)
  for (let bytes = 0; ; ) {
    if (signal.aborted) throw new ToolError('cancelled', 'cancelled')
    const { bytesRead } = await file.read(buffer, 0, buffer.length, null)
    if (bytesRead === 0) return { lines, bytes, hash }
    const chunk = buffer.subarray(0, bytesRead)
    if (bytes === 0 && chunk.includes(0)) throw new ToolError(`not shown: a binary file of ${(await file.stat()).size} bytes`)
    bytes += bytesRead
    hash.update(chunk)
    lines.push(chunk)
    if (lines.full && bytes > READ_TO_END_BYTES) return { lines, bytes, hash: undefined }
  }
}

function outcomeOf({ lines, bytes, hash }: Reading, name: string, first: number): Outcome {
  if (bytes === 0) return { status: 'ok', output: '[the file is empty]', summary: 'empty' }
  const { text, lines: count, endsWithNewline } = lines.finish()
  const { last } = lines
  if (last === 0) throw new ToolError(`${name} has ${count} lines: there is no line ${first}`)
  const atEnd = hash !== undefined && last === count
  const range = `lines ${first} to ${last}${hash === undefined ? '' : ` of ${count}`}`
  const notes = [
    lines.cut > 0 ? `[line ${last} is too long: the last ${lines.cut} bytes of it are left out]` : '',
    first === 1 && atEnd ? '' : `[${range}${atEnd ? '' : `; go on with offset ${last + 1}`}]`,
    lines.lineEndings === undefined ? '' : `[line ends: ${lines.lineEndings}]`,
    isUtf8(text) ? '' : '[not all of it is UTF-8: other bytes are shown as U+FFFD]',
    atEnd && !endsWithNewline ? '[no newline at the end of the file]' : '',
  ].filter((note) => note !== '')
  return { status: 'ok', output: Buffer.concat([asText(text), Buffer.from(notes.join('\n'))]), summary: range }
}
