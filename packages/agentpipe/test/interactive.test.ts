import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { logged } from './support/agent.js'
import { bash, capture } from './support/capture.js'
import { leftovers } from './support/processes.js'
import { noTmux, Tmux } from './support/tmux.js'

const skip = noTmux

t.test('editing: lines, pastes, wide characters, paths, history; another width; Ctrl-Z', { skip }, async (t) => {
  const terminal = new Tmux(t, Buffer.concat([capture({ text: 'The first answer.' }), capture({ text: 'The second answer.' })]))
  mkdirSync(terminal.workspace.path('deep'))
  for (const name of ['alpha.ts', 'alphabet.ts', '\x1b[31mred']) writeFileSync(terminal.workspace.path(`deep/${name}`), '')
  const shows = async (text: string | RegExp, what: string) => t.ok(await terminal.shows(text), `${what}\n${terminal.screen}`)
  t.ok(await terminal.start(), terminal.screen)

  terminal.type('first')
  terminal.press('M-Enter')
  terminal.type('second\\')
  terminal.press('Enter')
  terminal.paste('third\n\tfourth\n\x1b[31m')
  await shows('› first\n  second\n  third\n      fourth\n  \\u001b[31m', 'Alt-Enter, a backslash, a paste with keys in it')
  terminal.press('C-u')
  terminal.type('漢字 👨‍👩‍👧x')
  await shows('  漢字 👨‍👩‍👧x', 'wide characters')
  const { cursor } = terminal
  terminal.press('Left', 'BSpace', 'BSpace')
  await shows(/^ {2}漢字x$/m, 'a character is erased as a reader sees it')
  t.ok(terminal.cursor < cursor && terminal.cursor === 6, `the cursor stands before x: ${terminal.cursor}`)
  terminal.press('Enter')
  await shows(/^> first\n {2}second\n {2}third\n +fourth\n {2}漢字x\n\nThe first answer\.\n› ask/m, 'sent as one')

  terminal.type('see @de')
  terminal.press('Tab')
  await shows(/^› see @deep\/$/m, '@path is completed')
  terminal.type('alp')
  terminal.press('Tab', 'Tab')
  await shows(/^› see @deep\/alpha\n {2}alpha\.ts {2}alphabet\.ts$/m, 'or what there is is listed')
  terminal.type(`b${'\t'}and more than fits into eighty columns, all of it in one line: it is long`)
  await shows(/^› see @deep\/alphabet.ts and more.*\n {2}.*it is long$/m, 'a long line')
  const [long = ''] = /see @deep.*long/.exec(terminal.screen.replaceAll('\n  ', '')) ?? []
  for (const columns of [45, 23, 60]) {
    terminal.resize(columns)
    // A row has room for the sign, two cells, and leaves the last cell free.
    const rows = long.match(new RegExp(`.{1,${columns - 3}}`, 'g'))?.map((row) => row.trimEnd())
    await shows(`answer.\n› ${rows?.join('\n  ')}`, `${columns} columns`)
  }
  terminal.resize(80)
  await shows(/The first answer\.\n› see @deep\/alphabet.ts and more.*\n {2}.*it is long$/, 'no pieces of it stay')

  terminal.press('C-z')
  await shows(/Stopped.*\n\$$/, 'Ctrl-Z')
  t.ok(await terminal.isSane(), terminal.screen)
  terminal.enter('fg')
  await shows(/fg\n(?:agentpipe .*\n)?› see @deep\/alphabet.ts and more.*\n {2}.*it is long$/, 'fg: the draft is there')
  terminal.press('C-c', 'C-r')
  terminal.type('FIRST')
  await shows(/› first\n {2}second\n.*\n.*\n {2}漢字x\n {2}search: FIRST$/, 'Ctrl-R')
  terminal.press('C-g')
  terminal.enter('again')
  await shows(/The second answer\.\n› ask[^\n]*$/, 'the next turn')
  terminal.press('Up')
  await shows(/› again$/, 'Up')
  terminal.press('C-c', 'C-d')
  await shows(/The second answer\.\n\$$/, 'Ctrl-D leaves')
  t.ok(await terminal.isSane(), terminal.screen)
  t.notMatch(terminal.screen, /failed|killed/)
  t.same(
    (await leftovers(terminal.workspace)).filter((command) => !/tmux|bash/.test(command)),
    [],
  )
  const history = readFileSync(terminal.workspace.path('state/agentpipe/prompt-history.jsonl'), 'utf8')
  t.match(history, /^"first\\nsecond\\nthird\\n\\tfourth\\n漢字x"\n"again"\n$/)
})

/** A command of the model's that ends when the file `go` is there. */
const waits = bash('until [ -e go ]; do sleep 0.05; done; rm go; echo gone')

t.test('turns: a queue, the draft, Ctrl-C, permissions by key, the bell', { skip }, async (t) => {
  const turn = (name: string) => capture({ text: `${name} begins.`, ...waits }, { text: `${name} ends.` })
  const terminal = new Tmux(t, Buffer.concat([turn('One'), capture({ text: 'Two.' }), turn('Three'), turn('Four')]))
  const shows = async (text: string | RegExp, what: string) => t.ok(await terminal.shows(text), `${what}\n${terminal.screen}`)
  t.ok(await terminal.start('--ask Bash --bell'), terminal.screen)
  const bytes = terminal.bytes()
  const bells = () => bytes().split('\x07').length - 1

  terminal.enter('one')
  await shows(/^\? Bash {2}asks for permission[^›]*› Bash: y once, a always, n no$/m, 'it asks')
  t.equal(bells(), 1, 'and rings')
  terminal.press('y')
  await shows(/^› working/m, 'once')
  terminal.enter('two')
  terminal.type('a draft')
  await shows(/^› a draft\n {2}queued: two$/m, 'what is typed waits, and is shown')
  writeFileSync(terminal.workspace.path('go'), '')
  await shows(/gone[^›]*One ends\.\n\n> two\n\nTwo\.\n› a draft$/, 'it is sent when the turn has ended; the draft is kept')
  t.equal(bells(), 2, 'the bell, when nothing waits any more')
  terminal.press('C-c')
  await shows(/^› ask/m, 'Ctrl-C clears')

  terminal.enter('three')
  await shows(/› Bash: y once, a always, n no$/, 'once was once')
  terminal.press('n')
  await shows(/denied[^›]*Three ends\.\n› ask[^\n]*$/, 'no')
  terminal.enter('four')
  await shows(/› Bash: y once[^\n]*$/, 'no was once as well')
  terminal.press('a')
  await shows(/Four begins\.\n\n[^›]*› working[^\n]*$/, 'always')
  terminal.enter('waits')
  await shows(/queued: waits$/, 'queued')
  terminal.press('C-c')
  await shows(/interrupted[^›]*› waits$/, 'Ctrl-C interrupts; what waited is the draft')
  terminal.press('C-c')
  await shows(/› ask[^\n]*$/, 'cleared')
  terminal.press('C-c')
  await shows(/Ctrl-C again leaves$/, 'it says so')
  terminal.press('C-c', 'C-c')
  await shows(/interrupted\n\$$/, 'twice: it leaves')
  t.ok(await terminal.isSane(), terminal.screen)
  t.same(
    logged(terminal.workspace)
      .filter(({ type }) => type === 'tool_result')
      .map(({ status }) => status),
    ['ok', 'denied', 'cancelled'],
  )
})

t.test('commands: each of ours, those of files, !command; --continue and /resume', { skip }, async (t) => {
  const answers = ['The first answer.', 'The second answer.', 'The third answer.']
  const terminal = new Tmux(t, Buffer.concat(answers.map((text) => capture({ text }))), { columns: 100, rows: 50 })
  const shows = async (text: string | RegExp, what: string) => t.ok(await terminal.shows(text), `${what}\n${terminal.screen}`)
  mkdirSync(terminal.workspace.path('.agentpipe/commands'), { recursive: true })
  writeFileSync(terminal.workspace.path('.agentpipe/commands/review.md'), '---\ndescription: Look at it\n---\nReview $ARGUMENTS well.\n')
  t.ok(await terminal.start('--session one'), terminal.screen)
  terminal.enter('/help')
  await shows(/^ {2}\/help .*\n(?: {2}.*\n)+ {2}\/review +Look at it\n(?: {2}.*\n)+› ask/m, '/help, with those of files')
  terminal.enter('/review a.ts')
  await shows(/^> Review a\.ts well\.\n\nThe first answer\.\n› ask/m, 'a command of a file')
  terminal.enter('!echo "a  b"; exit 3')
  await shows(/^ {2}! echo "a {2}b"; exit 3\n {2}a {2}b\n {2}\(status 3\)\n› ask/m, '!command')
  terminal.enter('/model big')
  await shows(/^ {2}from the next turn on big is asked$/m, '/model M')
  terminal.enter('/compact')
  await shows(/CONTROL compact: a capture that is replayed makes no summary/, '/compact')
  terminal.enter('/sessions')
  await shows(/^ {2}one +\d{4}-.*Review a\.ts well/m, '/sessions')
  terminal.enter('/usage')
  await shows(/^ {2}1 session, /m, '/usage')
  terminal.enter('/clear')
  await shows(/^ {2}what was said is forgotten$/m, '/clear')
  terminal.enter('why')
  await shows(
    /^> I ran the command `echo "a {2}b"; exit 3` \(status 3\)[^›]*a {2}b\n[^›]*why\n\nThe \w+ answer\.\n› ask/m,
    'what a command printed goes with the next input',
  )
  terminal.enter('/nothing')
  await shows(/^› \/nothing\n {2}there is no command/m, 'one that there is not')
  terminal.press('C-c')
  terminal.enter('/quit')
  await shows(/answer\.\n\$$/, '/quit')
  terminal.tmux('clear-history')
  terminal.enter('clear')
  t.ok(await terminal.start('--continue'), terminal.screen)
  t.match(terminal.screen, /> Review a\.ts well\.\n\nThe first answer\.\n[^›]*why\n\nThe \w+ answer\.\n› ask/, '--continue shows the last turns')
  terminal.enter('/resume one')
  await shows(/(?:Review a\.ts well\.[^›]*› ask[^›]*)$/, '/resume')
  await shows(/(?:> Review a\.ts well\.[\s\S]*){2}/, 'shows them as well')
  terminal.enter('more')
  await shows(/^> more\n\n\w[^›]*› ask[^\n]*$/m, 'and goes on')
  terminal.press('C-d')
  await shows(/\n\$$/, 'Ctrl-D')
  t.ok(await terminal.isSane(), terminal.screen)
  t.equal(logged(terminal.workspace).filter(({ type }) => type === 'user_message').length, 3, 'all in one session')
})
