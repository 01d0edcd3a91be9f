import { createRequire } from 'node:module'
import type { StringStream as Stream } from '@codemirror/streamparser'
import t from 'tap'
import { codeStream } from '../src/markdown/code-stream.js'

const { StringStream } = createRequire(import.meta.url)('@codemirror/streamparser') as { StringStream: typeof Stream }
// Anew for each question, as one with g remembers where it was.
const patterns = () => [/[\w$\xa1-\uffff]/, /\s/, /[^a-c]/, /[A-Z]/i, /[é漢]/, /./g, (character: string) => character < 'n', 'a']
const LINES = ['', 'aaB_1 $é漢😀 x', ' \t\v\u00a0\u2028\u3000\ufeffx', 'ÀÉ-ab']

t.test('what languages ask is answered as by the stream of their makers, at every place', (t) => {
  for (const line of LINES) {
    const faults: unknown[] = []
    for (let pos = 0; pos <= line.length; pos++) {
      const after = (stream: Stream, ask: (stream: Stream) => unknown) => {
        stream.pos = pos
        return [ask(stream), stream.pos]
      }
      const asks = [...patterns().map((_, index) => (stream: Stream) => stream.eatWhile(patterns()[index] as RegExp)), (stream: Stream) => stream.eatSpace()]
      for (const [index, ask] of asks.entries()) {
        const wanted = after(new StringStream(line, 4, 2), ask)
        const found = after(codeStream(line, 2), ask)
        if (String(wanted) !== String(found)) faults.push({ line, pos, index, wanted, found })
      }
    }
    t.same(faults, [])
  }
  t.end()
})
