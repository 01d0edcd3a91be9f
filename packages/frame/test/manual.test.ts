import { readFileSync } from 'node:fs'
import t from 'tap'
import { DEFAULT_LIMITS } from '../src/index.js'
import { decode, octets } from './support/chunkings.js'

const manual = readFileSync(new URL('../../frames.5.md', import.meta.url), 'utf8')

t.test('frames(5): each example is one frame', async (t) => {
  const examples = section('EXAMPLES').filter((line) => line.startsWith('    *'))
  t.ok(examples.length >= 5)
  for (const example of examples) {
    const { frames, error } = decode([unescaped(example.trim())])
    t.equal(error, undefined, example)
    t.equal(frames.length, 1, example)
  }
})

t.test('frames(5): each error is what is said of that input', async (t) => {
  const lines = section('ERRORS').filter((line) => line.startsWith('    '))
  t.ok(lines.length >= 20)
  for (let index = 0; index < lines.length; index += 2) {
    const [input, message] = [lines[index]?.trim() ?? '', lines[index + 1]?.trim()]
    t.equal(decode([unescaped(input)]).error?.message, message, input)
  }
})

t.test('frames(5) has the limits', async (t) => {
  for (const limit of Object.values(DEFAULT_LIMITS)) t.match(manual, limit.toLocaleString('en'))
})

/** The lines below a heading. */
function section(heading: string): string[] {
  const [, body = ''] = manual.split(`## ${heading}\n`)
  return (body.split('\n## ')[0] ?? '').split('\n')
}

/** C escapes as octets. */
function unescaped(text: string): Buffer {
  return octets(
    text.replace(/\\(r|n|x[0-9a-f]{2})/g, (_, code: string) =>
      code === 'r' ? '\r' : code === 'n' ? '\n' : String.fromCharCode(Number.parseInt(code.slice(1), 16)),
    ),
  )
}
