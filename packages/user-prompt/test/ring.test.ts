import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { eventually } from '@agentpipe/testing'
import t from 'tap'
import { noTerminal, Typing } from './typing.js'

const skip = noTerminal
const STOP = ['STOP', 'end_turn']

t.test('what is typed during a turn waits, is shown, and can be taken back', { skip }, async (t) => {
  const typing = new Typing(t, { ring: true, words: '--bell' })
  t.ok(await typing.begun())
  typing.type('one\r')
  t.ok(await eventually(() => typing.of('USER_INPUT').length === 1))
  typing.say(['USER_MESSAGE', 'one'], ['TEXT', 'a'])
  typing.type('two\rthree\rdraft')
  t.ok(await eventually(() => typing.prompt.note === 'queued: two\nqueued: three' && typing.prompt.text === 'draft'))
  typing.type('\x03\x1b[A')
  t.ok(await eventually(() => typing.prompt.text === 'three' && typing.prompt.note === 'queued: two'))
  typing.say(['TEXT', 'b'], STOP)
  t.ok(await eventually(() => typing.of('USER_INPUT').length === 2))
  t.same(typing.of('USER_INPUT')[1], ['USER_INPUT', 'two'])
  t.equal(typing.prompt.text, 'three', 'the draft is kept')
  t.same(
    typing.of('TEXT'),
    [
      ['TEXT', 'a'],
      ['TEXT', 'b'],
    ],
    'frames pass',
  )
  t.equal(typing.of('PROMPT').filter((fields) => fields.includes('bell')).length, 0)
  typing.say(STOP)
  t.ok(await eventually(() => typing.of('PROMPT').filter((fields) => fields.includes('bell')).length === 1), 'the bell, when nothing waits')
})

t.test('Ctrl-C: the draft, the turn, then out', { skip }, async (t) => {
  const typing = new Typing(t, { ring: true })
  t.ok(await typing.begun())
  typing.type('go\rwaits\rdraft\x03')
  t.ok(await eventually(() => typing.prompt.note === 'queued: waits'))
  t.equal(typing.of('INTERRUPT').length, 0)
  typing.type('\x03')
  t.ok(await eventually(() => typing.prompt.text === 'waits'), 'what waits is not done by itself')
  t.equal(typing.of('INTERRUPT').length, 1)
  typing.say(['STOP', 'interrupted'])
  typing.type('\x03\x03\x03')
  t.ok(await eventually(() => typing.of('END').length === 1))
  typing.endRing()
  await typing.ended
  t.match(typing.screen, 'status 0')
})

t.test('a permission is given by a key that is pressed after the question, and no other', { skip }, async (t) => {
  const typing = new Typing(t, { ring: true, words: '--bell' })
  t.ok(await typing.begun())
  typing.type('go\ryes, an')
  t.ok(await typing.prompts('yes, an'))
  typing.say(['USER_MESSAGE', 'go'], ['PERMISSION_REQUEST', 'c1', 'Bash', '--ask Bash', 'input', '{}'], ['PERMISSION_REQUEST', 'c2', 'Write', '--ask Write'])
  typing.type('y')
  t.ok(await eventually(() => typing.prompt.hint === 'Bash: y once, a always, n no (1 of 2)'))
  t.equal(typing.prompt.note, 'your draft is kept: yes, any')
  t.same(typing.of('PERMISSION'), [])
  t.same(typing.of('PERMISSION_REQUEST'), [], 'it goes no further')
  typing.type('x\r')
  t.ok(await eventually(() => /y, a or n/.test(typing.prompt.note ?? '')))
  typing.type('ty\x1b[200~y\x1b[201~')
  t.ok(await eventually(() => typing.prompt.note?.startsWith('your draft is kept: yes, anyy')))
  t.same(typing.of('PERMISSION'), [], 'neither by another key, nor by one that comes right behind it, nor by a paste')
  // The pause after such a key.
  await sleep(500)
  typing.type('a')
  t.ok(await eventually(() => typing.of('PERMISSION').length === 1))
  t.same(typing.of('PERMISSION')[0], ['PERMISSION', 'c1', 'always'])
  typing.type('n')
  t.ok(await eventually(() => typing.prompt.hint === 'Write: y once, a always, n no'))
  t.equal(typing.of('PERMISSION').length, 1, 'the next question is a question of its own')
  typing.type('\x1b')
  t.ok(await eventually(() => typing.of('PERMISSION').length === 2))
  t.same(typing.of('PERMISSION')[1], ['PERMISSION', 'c2', 'deny'])
  t.ok(await eventually(() => /^yes, anyy/.test(typing.prompt.text)), 'the draft is back')
  typing.say(['PERMISSION_REQUEST', 'c3', 'Bash', '--ask Bash'], ['TOOL_RESULT', 'c3', 'Bash', '', 'status', 'cancelled'], STOP)
  await sleep(600)
  t.not(typing.prompt.hint, 'Bash: y once, a always, n no', 'what has ended asks no more')
})

t.test('commands: ours, those of files, and none', { skip }, async (t) => {
  const typing = new Typing(t, { ring: true, words: '--next next' })
  mkdirSync(typing.path('.agentpipe/commands'), { recursive: true })
  mkdirSync(typing.path('commands'))
  writeFileSync(typing.path('.agentpipe/commands/review.md'), '---\ndescription: Look \x1b[2Jat it\n---\nReview $ARGUMENTS, $ARGUMENTS.\n')
  writeFileSync(typing.path('.agentpipe/commands/\x1b[31m.md'), 'hostile')
  writeFileSync(typing.path('commands/review.md'), 'of the user')
  writeFileSync(typing.path('commands/plain.md'), 'Plain.')
  t.ok(await typing.begun())
  typing.type('/re\t\t')
  t.ok(await eventually(() => typing.prompt.note === 'resume  review'))
  typing.type("v\t$& $1 it's\r")
  t.ok(await eventually(() => typing.of('USER_INPUT').length === 1))
  t.equal(typing.of('USER_INPUT')[0]?.[1], "Review $& $1 it's, $& $1 it's.")
  typing.say(STOP)
  typing.type('/plain and more\r')
  t.ok(await eventually(() => typing.of('USER_INPUT').at(-1)?.[1] === 'Plain.\n\nand more'))
  typing.say(STOP)
  typing.type('/nothing here\r')
  t.ok(await eventually(() => /no command \/nothing/.test(typing.prompt.note ?? '')))
  t.equal(typing.prompt.text, '/nothing here', 'it can be mended')
  typing.type('\x03 /nothing here\r')
  t.ok(await eventually(() => typing.of('USER_INPUT').at(-1)?.[1] === ' /nothing here'))
  typing.say(STOP)
  typing.type('/compact the tests\r')
  t.ok(await eventually(() => typing.of('CONTROL').length === 1))
  typing.say(['CONTEXT_UPDATE', 'compact', 'manual'])
  typing.type('/model big\r/clear\r/help\r')
  t.ok(await eventually(() => typing.of('PROMPT').some((fields) => /\/review {2,}Look/.test(fields.join()))))
  t.same(typing.of('CONTROL'), [
    ['CONTROL', 'compact', 'the tests'],
    ['CONTROL', 'model', 'big'],
    ['CONTROL', 'clear', ''],
  ])
  typing.type('/quit\r')
  t.ok(await eventually(() => typing.of('END').length === 1))
})

t.test('!command: shown, and told with the next input; @path', { skip }, async (t) => {
  const typing = new Typing(t, { ring: true })
  mkdirSync(typing.path('deep/er'), { recursive: true })
  for (const name of ['deep/alpha.ts', 'deep/alphabet.ts', 'deep/.hidden', 'deep/\x1b[2Jx', 'deep/漢字.md']) writeFileSync(typing.path(name), '')
  t.ok(await typing.begun())
  typing.type('!printf "a\\nb"; cat; tty; exit 3\r')
  const shown = () =>
    typing
      .of('PROMPT')
      .map((fields) => fields[fields.indexOf('show', 3) + 1])
      .join('')
  t.ok(await eventually(() => shown().includes('(status 3)')), shown())
  typing.type('why\r')
  t.ok(await eventually(() => typing.of('USER_INPUT').length === 1))
  t.match(typing.of('USER_INPUT')[0]?.[1], /^I ran the command `printf .*` \(status 3\)\. It printed:\n\na\nbnot a tty\n\nwhy$/)
  typing.say(STOP)
  typing.type('!echo begun; sleep 987\r')
  t.ok(await eventually(() => shown().includes('begun\n')))
  typing.type('\x03')
  t.ok(await eventually(() => shown().includes('(SIGINT)')), 'Ctrl-C ends it')
  typing.type('see @dee\talp\t\t')
  t.ok(await eventually(() => typing.prompt.text === 'see @deep/alpha' && typing.prompt.note === 'alpha.ts  alphabet.ts'))
  typing.type('.\t')
  t.ok(await typing.prompts('see @deep/alpha.ts '))
  typing.type('@deep/\t')
  t.ok(await eventually(() => typing.prompt.note === 'alpha.ts  alphabet.ts  er/  漢字.md'), 'no hidden ones, and none that would act on a terminal')
})

t.test('what stages say on standard error is shown', { skip }, async (t) => {
  const typing = new Typing(t, { ring: true, words: '--errors errors', behind: 'cat errors' })
  writeFileSync(typing.path('errors'), 'tool-runner: early\n')
  t.ok(await typing.begun())
  t.ok(await eventually(() => typing.of('PROMPT').some((fields) => fields.includes('tool-runner: early\n'))))
  writeFileSync(typing.path('errors'), 'agent-loop: late\n', { flag: 'a' })
  t.ok(await eventually(() => typing.of('PROMPT').some((fields) => fields.includes('agent-loop: late\n'))))
})

t.test('the terminal gets its modes back, and the ring that ends by itself is told', { skip }, async (t) => {
  const typing = new Typing(t, { ring: true, behind: 'stty -a | grep -c "^isig icanon.* echo "' })
  t.ok(await typing.begun())
  typing.endRing()
  await typing.ended
  t.match(typing.screen, /status 69\r\n1\r\n/)
})

for (const [signal, status] of [
  ['TERM', 143],
  ['HUP', 129],
  ['KILL', 137],
] as const) {
  t.test(`SIG${signal}`, { skip }, async (t) => {
    // With SIGKILL it is for who started it: agentpipe does so.
    const restored = signal === 'KILL' ? '0' : '1'
    const typing = new Typing(t, { ring: true, behind: 'stty -a | grep -c "^isig icanon.* echo "' })
    t.ok(await typing.begun())
    const pid = pidOf(typing)
    process.kill(pid, `SIG${signal}`)
    await typing.ended
    t.match(typing.screen, new RegExp(`status ${status}[^]*\\n${restored}\\r\\n`))
  })
}

t.test('Ctrl-Z stops the job with the terminal as it was, and it goes on', { skip }, async (t) => {
  const typing = new Typing(t, { ring: true })
  t.ok(await typing.begun())
  typing.type('draft')
  t.ok(await typing.prompts('draft'))
  const pid = pidOf(typing)
  const { length } = typing.of('PROMPT')
  process.kill(pid, 'SIGTSTP')
  t.ok(await eventually(() => /^State:\tT/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))), 'it stops')
  process.kill(pid, 'SIGCONT')
  t.ok(await eventually(() => typing.of('PROMPT').length > length), 'the prompt is drawn anew')
  typing.type('!\r')
  t.ok(await eventually(() => typing.of('USER_INPUT').at(-1)?.[1] === 'draft!'))
})

/** The process of user-prompt. */
function pidOf(typing: Typing): number {
  const [line] = readFileSync(`/proc/${typing.process.pid}/task/${typing.process.pid}/children`, 'utf8').trim().split(' ')
  const [own] = readFileSync(`/proc/${line}/task/${line}/children`, 'utf8').trim().split(' ')
  return Number(own)
}
