import { everyCut } from '@agentpipe/testing'
import t from 'tap'
import { EventStreamParser, type ServerEvent } from '../src/providers/event-stream.js'

function parse(...pieces: readonly Uint8Array[]): ServerEvent[] {
  const parser = new EventStreamParser()
  return [...pieces.flatMap((piece) => parser.push(piece)), ...parser.end()]
}

const CASES: readonly (readonly [name: string, stream: string, events: readonly (readonly [event: string, data: string, cut?: boolean])[]])[] = [
  [
    'LF',
    'data: a\n\ndata: b\n\n',
    [
      ['', 'a'],
      ['', 'b'],
    ],
  ],
  [
    'CRLF',
    'data: a\r\n\r\ndata: b\r\n\r\n',
    [
      ['', 'a'],
      ['', 'b'],
    ],
  ],
  [
    'CR',
    'data: a\r\rdata: b\r\r',
    [
      ['', 'a'],
      ['', 'b'],
    ],
  ],
  [
    'mixed',
    'data: a\r\n\ndata: b\r\r\ndata: c\n\r\n',
    [
      ['', 'a'],
      ['', 'b'],
      ['', 'c'],
    ],
  ],
  ['several lines of data', 'data: a\ndata:\ndata:  b\n\n', [['', 'a\n\n b']]],
  ['comments, other fields, and no space', ': PROCESSING\n\nid: 1\nretry: 5\nevent:x\ndata:a\nbogus\n\n', [['x', 'a']]],
  ['an event without data is none, and its name does not stay', 'event: x\n\ndata: a\n\n', [['', 'a']]],
  ['a byte order mark', '\uFEFFdata: a\n\n', [['', 'a']]],
  ['characters of several bytes, and U+2028', 'data: ü\u2028\u{1F600}\n\n', [['', 'ü\u2028\u{1F600}']]],
  [
    'no blank line at the end',
    'data: a\n\ndata: [DONE]\n',
    [
      ['', 'a'],
      ['', '[DONE]', true],
    ],
  ],
  [
    'no line end at the end',
    'data: a\n\ndata: {"b',
    [
      ['', 'a'],
      ['', '{"b', true],
    ],
  ],
  ['nothing', '', []],
]

for (const [name, stream, expected] of CASES) {
  t.test(`${name}, cut anywhere`, (t) => {
    const bytes = Buffer.from(stream)
    const events = expected.map(([event, data, cut = false]) => ({ event, data, cut }))
    t.same(parse(bytes), events)
    t.same(parse(...[...bytes].map((byte) => Uint8Array.of(byte))), events, 'byte by byte')
    for (const [head, tail] of everyCut(bytes)) if (JSON.stringify(parse(head, tail)) !== JSON.stringify(events)) t.fail(`cut at ${head.length}`)
    t.end()
  })
}

t.test('30: a line of many megabytes in small pieces takes time in proportion', (t) => {
  const parser = new EventStreamParser()
  const piece = Buffer.alloc(100, 'x')
  const start = performance.now()
  parser.push(Buffer.from('data: '))
  for (let pieces = 0; pieces < 200_000; pieces++) parser.push(piece)
  t.equal(parser.push(Buffer.from('\n\n'))[0]?.data.length, 20_000_000)
  t.ok(performance.now() - start < 10_000)
  t.end()
})
