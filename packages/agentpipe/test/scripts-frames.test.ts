import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { encodeFrame, type FieldValue } from '@agentpipe/frame'
import { fixture, frames, root, run } from '@agentpipe/testing'
import t from 'tap'

const LIBRARY = join(root, 'scripts/lib/frames.sh')
const octets = Buffer.from(Array.from({ length: 255 }, (_, index) => index + 1))
const odd: FieldValue[] = ['', ' ', '\r\n', '\n', 'é漢😀', '\\n %s -n', "it's $HOME `id`", '*1\r\n$3\r\nEND\r\n', octets, Buffer.from([0xff, 0xc3, 0x28])]

/** Bash with our functions; `words` are `$1` ... */
function bash(script: string, input: Uint8Array | string = '', words: readonly string[] = [], env: Record<string, string | undefined> = {}) {
  return run('bash', ['-c', `. "$0"; ${script}`, LIBRARY, ...words], { input, env, timeout: 120_000 })
}

for (const locale of ['C', 'C.UTF-8']) {
  t.test(`any text but NUL passes byte for byte, in locale ${locale}`, async (t) => {
    const bytes = frames(...odd.map((field) => ['TEXT', field, 'key', field]), ['END'], ['TEXT', ...odd])
    const ended = await bash('frame_each frame_pass', bytes, [], { LC_ALL: locale })
    t.ok(ended.stdout.equals(bytes))
    t.match(ended, { status: 0, stderr: '' })
  })

  t.test(`lengths are bytes in what is written, in locale ${locale}`, async (t) => {
    const fields = odd.filter((field) => typeof field === 'string')
    const ended = await bash('frame_write TEXT "$@"', '', fields, { LC_ALL: locale })
    t.same(ended.stdout, encodeFrame(['TEXT', ...fields]))
  })
}

t.test('every fixture without NUL passes byte for byte', async (t) => {
  const captures = readdirSync(fixture(), { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.resp') && !name.startsWith('broken'))
  for (const name of captures) {
    const bytes = readFileSync(fixture(name))
    const ended = await bash('frame_each frame_pass', bytes)
    if (bytes.includes(0)) t.match(ended, { status: 65 }, `${name} is refused`)
    else t.ok(ended.stdout.equals(bytes), name)
  }
})

t.test('input that comes a byte at a time', async (t) => {
  const bytes = frames(['TEXT', 'é漢\r\n'], ['END'])
  const ended = await bash('while IFS= read -r -d "" -n 1 byte; do printf %s "$byte"; done | frame_each frame_pass', bytes, [], { LC_ALL: 'C' })
  t.same(ended.stdout, bytes)
})

t.test('a field of 20 MiB', async (t) => {
  const bytes = frames(['TEXT', Buffer.alloc(20 * 1024 * 1024, 'é\n')], ['END'])
  const ended = await bash('frame_each frame_pass', bytes)
  t.ok(ended.stdout.equals(bytes))
  t.equal(ended.status, 0)
})

t.test('needs no other program', async (t) => {
  const bytes = frames(['TEXT', 'one'], ['END'])
  t.same((await bash('PATH=/nonexistent; frame_each frame_pass', bytes)).stdout, bytes)
})

t.test('the status tells the end of the input from an error', async (t) => {
  const read = 'frame_read; status=$?; set -- "$status" "$frame"; echo "$*"'
  t.equal((await bash(read, '')).stdout.toString(), '1 \n')
  t.equal((await bash(read, '*2\r\n$4\r\nTEXT\r\n$2\r\nab')).stdout.toString(), '65 TEXT\n')
  t.equal((await bash(read, frames(['TEXT', 'a']))).stdout.toString(), '0 TEXT\n')
})

t.test('an attribute of the frame just read', async (t) => {
  const call = frames(['TOOL_CALL', 'Bash', 'c1', '{}', 'command', 'ls\n', 'command', 'second', 'odd'])
  const ask = async (words: string) => (await bash(`frame_read; frame_attribute ${words}; echo "$? [$REPLY]"`, call)).stdout.toString()
  t.equal(await ask('command'), '0 [ls\n]\n', 'the first counts')
  t.equal(await ask('odd'), '1 []\n', 'a key without a value is none')
  t.equal(await ask('Bash'), '1 []\n', 'positional fields are none')
  t.equal(await ask('Bash 1'), '0 [c1]\n')
})

t.test('a frame cannot be written without a type', async (t) => {
  for (const type of ['', 'text', '1A', 'A B', 'TEXT\r\n']) t.match(await bash('frame_write "$1"', '', [type]), { status: 64, stdout: Buffer.alloc(0) })
})

const malformed: Record<string, string> = {
  'hello\n': 'expected \\*, a number without leading zero, CRLF at byte 11, found hell',
  '*': 'truncated at byte 12',
  '*1\r\n': 'truncated at byte 15',
  '*01\r\n': 'without leading zero',
  '*0\r\n': 'a count of at least 1',
  '*-1\r\n': 'expected',
  '*+1\r\n': 'expected',
  '*1 \r\n': 'expected',
  '*1\n$1\nA\n': 'expected',
  '*1\r$1\r\nA\r\n': 'expected',
  '*1\0\r\n$1\r\nA\r\n': 'expected',
  '*1025\r\n': 'at most 1024 fields in a frame at byte 12',
  '*99999999999999999999\r\n': 'expected',
  '*1\r\n$67108865\r\n': 'at most 67108864 bytes in a field at byte 16',
  '*1\r\n$4\r\nTEXTX\r\n': 'expected CRLF after 4-byte field at byte 23',
  '*1\r\n$4\r\nTEXT\n\n': 'expected CRLF after 4-byte field',
  '*1\r\n$4\r\nTEX': 'truncated at byte 22: the input ends inside the frame that begins at byte 11',
  '*1\r\n$4\r\ntext\r\n': 'expected a type of A-Z, 0-9 and _',
  '*1\r\n*1\r\n': 'expected \\$, a number',
  '*2\r\n$1\r\nA\r\n$3\r\na\0b\r\n': 'expected CRLF|truncated',
}

t.test('malformed input: what is before it counts, then one line and status 65', async (t) => {
  const before = '*1\r\n$1\r\nA\r\n'
  for (const [bytes, message] of Object.entries(malformed)) {
    const ended = await bash('frame_each frame_pass', before + bytes)
    t.equal(ended.stdout.toString(), before, JSON.stringify(bytes))
    t.equal(ended.status, 65)
    t.match(ended.stderr, new RegExp(`^frames.sh: .*${message}.*\n$`))
  }
})
