import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { eventually } from '@agentpipe/testing'
import t from 'tap'
import { noTerminal, Typing } from './typing.js'

const [LEFT, RIGHT, UP, DOWN, HOME, END, DELETE] = ['\x1b[D', '\x1b[C', '\x1b[A', '\x1b[B', '\x1b[H', '\x1b[F', '\x1b[3~']
const [CTRL_LEFT, CTRL_RIGHT, ALT_ENTER, BACKSPACE] = ['\x1b[1;5D', '\x1b[1;5C', '\x1b\r', '\x7f']
const FAMILY = '👨‍👩‍👧'
const paste = (text: string) => `\x1b[200~${text}\x1b[201~`

/** What is typed before Enter, and what is sent. */
const typed: readonly (readonly [what: string, keys: string, sent: string])[] = [
  ['text', 'hello', 'hello'],
  ['left, right, home, end', `bd${LEFT}c${HOME}a${END}e${LEFT}${LEFT}${RIGHT}!`, 'abcd!e'],
  ['by word', `one two${CTRL_LEFT}x ${CTRL_RIGHT}!`, 'one x two!'],
  ['erase', `abc${BACKSPACE}${HOME}${DELETE}`, 'b'],
  ['cut and put back', `one two three\x17\x17\x19${HOME}\x0b\x19 \x19`, 'one two three one two three'],
  ['cut to the beginning', `left right${CTRL_LEFT}\x15${END} \x19`, 'right left '],
  ['wide characters and emoji', `漢字${FAMILY}🇩🇪🇫🇷e\u0301x${LEFT}${BACKSPACE}${BACKSPACE}${LEFT}${BACKSPACE}${HOME}${RIGHT}${DELETE}`, '漢🇩🇪x'],
  ['lines', `one${ALT_ENTER}two\\\rthree\nfour`, 'one\ntwo\nthree\nfour'],
  ['lines up and down', `long line${ALT_ENTER}ab${ALT_ENTER}long line${UP}${UP}!${DOWN}?`, 'lo!ng line\nab?\nlong line'],
  ['a paste with keys in it', `a${paste('x\ry\x03\x04\tz\x1b[D!\r\n')}b`, 'ax\ny\x03\x04\tz\x1b[D!\nb'],
  ['keys that mean nothing', 'a\x1b[15~\x1b[99;9u\x00b', 'ab'],
]

t.test('editing', { skip: noTerminal }, async (t) => {
  const typing = new Typing(t)
  t.ok(await typing.begun())
  for (const [what, keys, sent] of typed) {
    const count = typing.of('USER_INPUT').length
    typing.type(keys)
    typing.type('\r')
    await eventually(() => typing.of('USER_INPUT').length > count, 10_000)
    t.equal(typing.of('USER_INPUT').at(-1)?.[1], sent, what)
  }
  typing.type('\x04')
  await typing.ended
  t.equal(typing.of('END').length, 1)
  t.match(typing.screen, /^status 0\r\n$/, 'it writes nothing to the terminal')
})

t.test('the prompt says where the cursor stands, in characters', { skip: noTerminal }, async (t) => {
  const typing = new Typing(t)
  t.ok(await typing.begun())
  typing.type(`${FAMILY}漢a${LEFT}`)
  t.ok(await eventually(() => typing.prompt.text === `${FAMILY}漢a` && typing.prompt.cursor === 6))
  typing.type(`\x03${paste('x'.repeat(1_000_000))}`)
  t.ok(await eventually(() => typing.prompt.text.length > 4000), 'of a long text a part is shown')
  t.ok(typing.prompt.text.length < 10_000)
  typing.type('\r')
  t.ok(await eventually(() => typing.of('USER_INPUT').at(-1)?.[1]?.length === 1_000_000), 'and all of it is sent')
  t.equal(new Set(typing.of('PROMPT').map(String)).size, typing.of('PROMPT').length, 'no two are the same')
})

t.test('history: across sessions, for the user alone, whatever is in its file', { skip: noTerminal }, async (t) => {
  const first = new Typing(t)
  t.ok(await first.begun())
  first.type('one\rtwo\r secret\r\x04')
  await first.ended
  const file = first.path('state/agentpipe/prompt-history.jsonl')
  t.equal(readFileSync(file, 'utf8'), '"one"\n"two"\n')
  t.equal(statSync(file).mode & 0o777, 0o600)
  writeFileSync(file, `${readFileSync(file, 'utf8')}{"half\n[1]\n\x00\x00\n"\\u001b[2Jhostile"\n`)
  const second = new Typing(t, {}, first.directory)
  t.ok(await second.begun())
  second.type(`draft${UP}`)
  t.ok(await second.prompts('\x1b[2Jhostile'))
  second.type(UP + UP + UP)
  t.ok(await second.prompts('one'))
  second.type(DOWN + DOWN + DOWN)
  t.ok(await second.prompts('draft'), 'the draft is at the end')
  second.type('\x12O')
  t.ok(await eventually(() => second.prompt.text.endsWith('hostile') && second.prompt.note === 'search: O'))
  second.type('\x12')
  t.ok(await second.prompts('two'), 'the next one')
  second.type('\x12\x12')
  t.ok(await eventually(() => second.prompt.note === 'search: O (nothing older)'))
  t.equal(second.prompt.text, 'one', 'what was found last stays')
  second.type('\x07')
  t.ok(await second.prompts('draft'), 'Ctrl-G: as before')
  second.type('\x12tw\r')
  t.ok(await eventually(() => second.of('USER_INPUT').at(-1)?.[1] === 'two'), 'Enter sends what was found')
  t.equal(second.screen, '')
})
