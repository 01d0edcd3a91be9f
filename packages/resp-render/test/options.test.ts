import { openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { frames, root, run, shell } from '@agentpipe/testing'
import t from 'tap'
import { sgr } from '../src/style.js'
import { colourDepth, takesLinks, terminalWidth } from '../src/terminal.js'
import { themeChoice } from '../src/theme-file.js'
import { render } from './render.js'

t.test('colours: case 13', async (t) => {
  const depth = (environment: NodeJS.ProcessEnv, terminal: boolean, option: 'auto' | 'always' | 'never' = 'auto') => colourDepth(option, environment, terminal)
  t.equal(depth({ TERM: 'xterm' }, true), 16)
  t.equal(depth({ TERM: 'xterm-256color' }, true), 256)
  t.equal(depth({ TERM: 'xterm', COLORTERM: 'truecolor' }, true), 16777216)
  for (const TERM of ['xterm-kitty', 'xterm-ghostty', 'alacritty', 'foot-extra', 'xterm-direct']) t.equal(depth({ TERM }, true), 16777216, TERM)
  t.equal(depth({ TERM: 'tmux-256color', COLORTERM: 'truecolor' }, true), 16777216)
  t.equal(depth({ TERM: 'xterm' }, false), 0)
  t.equal(depth({ TERM: 'xterm', NO_COLOR: '1' }, true), 0)
  t.equal(depth({ TERM: 'xterm', NO_COLOR: '' }, true), 16)
  t.equal(depth({ TERM: 'dumb' }, true), 0)
  t.equal(depth({ FORCE_COLOR: '1' }, false), 16)
  t.equal(depth({ FORCE_COLOR: '0', TERM: 'xterm' }, true), 0)
  t.equal(depth({ FORCE_COLOR: '3', NO_COLOR: '1' }, false), 0)
  t.equal(depth({ NO_COLOR: '1' }, false, 'always'), 16)
  t.equal(depth({ FORCE_COLOR: '1' }, true, 'never'), 0)
})

t.test('which terminals take links', async (t) => {
  for (const environment of [{ TERM_PROGRAM: 'iTerm.app' }, { TERM: 'xterm-kitty' }, { VTE_VERSION: '7200' }, { WT_SESSION: '' }, { FORCE_HYPERLINK: '1' }]) {
    t.equal(takesLinks(environment), true, JSON.stringify(environment))
  }
  for (const environment of [
    {},
    { TERM: 'xterm-256color' },
    { VTE_VERSION: '4000' },
    { TERM: 'tmux-256color', TERM_PROGRAM: 'ghostty' },
    { TERM_PROGRAM: 'vscode', FORCE_HYPERLINK: '0' },
  ]) {
    t.equal(takesLinks(environment), false, JSON.stringify(environment))
  }
})

t.test('the terminal is the one that standard output is', async (t) => {
  const line = 'script -qec "stty cols 30; resp-render <in $1" /dev/null'
  const cwd = t.testdir({ in: frames(['ERROR', 'one-two-three-four-five-six']) })
  const env = { TERM: 'xterm', COLUMNS: '200' }
  const onTerminal = (await shell(line, [], { cwd, env })).stdout.toString()
  t.equal(onTerminal, '\x1b[31m✗ Error:\x1b[0m\r\n\x1b[31m  one-two-three-four-five-six\x1b[0m\r\n', 'colours, and the width of the window')
  t.notMatch((await shell(line, [], { cwd, env: { ...env, NO_COLOR: '1' } })).stdout.toString(), '\x1b')
  t.notMatch((await shell(line, [], { cwd, env: { ...env, TERM: 'dumb' } })).stdout.toString(), '\x1b')
  t.notMatch((await shell(line, ['>out; cat out'], { cwd, env })).stdout.toString(), '\x1b', 'stderr is one, but not stdout')
})

t.test('looks, in the colours that the terminal has', async (t) => {
  for (const [look, ...codes] of [
    ['', '', '', ''],
    ['bold  italic', '1;3', '1;3', '1;3'],
    ['dim red on bright-blue', '2;31;104', '2;31;104', '2;31;104'],
    ['9', '91', '91', '91'],
    ['208', '33', '38;5;208', '38;5;208'],
    ['on 236', '40', '48;5;236', '48;5;236'],
    ['#ff8700', '33', '38;5;208', '38;2;255;135;0'],
    ['#808080 on #FFFFFF', '90;107', '38;5;244;48;5;231', '38;2;128;128;128;48;2;255;255;255'],
  ] as const) {
    t.same(
      ([16, 256, 16777216] as const).map((depth) => sgr(look, depth)),
      codes,
      look,
    )
  }
  for (const word of ['blink', '256', '#fff', '-1', '1.5', 'bright-', 'constructor']) t.throws(() => sgr(word, 256), { message: word })
})

t.test('themes', async (t) => {
  const file = join(t.testdir({ theme: '# mine\n\nbase: plain\r\n  user : bold on 52\n' }), 'theme')
  const shown = (theme?: string, COLORFGBG?: string) =>
    render(
      [
        ['USER_MESSAGE', 'hi'],
        ['ERROR', 'x'],
      ],
      { depth: 256, theme: themeChoice(theme, { COLORFGBG }) },
    )
  const mine = '\x1b[1;48;5;52m> hi\x1b[0m\n\n\x1b[1m✗ Error: x\x1b[0m\n'
  t.equal(shown(file), mine)
  t.equal(shown('plain'), '\x1b[1m> hi\x1b[0m\n\n\x1b[1m✗ Error: x\x1b[0m\n')
  t.equal(shown(undefined, '0;15'), shown('light'))
  t.equal(shown(undefined, '15;0'), shown('dark'))
  t.not(shown('light'), shown('dark'))
  const input = frames(['USER_MESSAGE', 'hi'], ['ERROR', 'x'])
  const executable = (theme: string) => run('resp-render', ['--color', 'always', '--theme', theme], { input, env: { TERM: 'xterm-256color' } })
  t.equal((await executable(file)).stdout.toString(), mine)
  t.match(await executable('drak'), { status: 66, stderr: /^resp-render: --theme: cannot read drak .*: no such file or directory\n$/ })
  for (const [text, wrong] of [
    ['usr: bold', 'line 1: there is no role "usr", did you mean user?'],
    ['\nuser: blnk', 'line 2: expected bold, dim, italic, underline, inverse, strike or a colour, found "blnk"'],
    ['base: black', 'line 1: expected base: dark, light or plain'],
    ['bold', 'line 1: there is no role ""'],
  ] as const) {
    writeFileSync(file, text)
    t.throws(() => themeChoice(file), { status: 78, message: `--theme: ${file}, ${wrong}` }, text)
  }
})

t.test('--usage ends a turn in its tokens', async (t) => {
  const usage = (...fields: string[]) => ['USAGE', ...fields]
  const turns = [
    ['TEXT', 'a'],
    usage('10', '2', '1000', '0'),
    usage('5', '1', '0', '40', 'kind', 'sub_agent'),
    ['STOP', 'end_turn'],
    ['TEXT', 'b'],
    ['STOP', 'error'],
  ]
  t.equal(render(turns, { usage: true }), 'a\n\nΣ 1,055 tokens in (1,000 from cache), 3 out, 2 model requests\n\nb\n\n■ Stopped: an error ended the turn\n')
  t.equal(render([usage('x', '', '9', '99999999999999999'), ['STOP', 'end_turn']], { usage: true }), 'Σ 9 tokens in (9 from cache), 0 out, 1 model request\n')
})

t.test('width', async (t) => {
  const none = openSync('/dev/null', 'w')
  const columns = (COLUMNS: string) => terminalWidth(undefined, none, { COLUMNS })
  t.equal(columns('5'), 5)
  for (const COLUMNS of ['0', '-5', 'wide', '1e1', '']) t.equal(columns(COLUMNS), 80, `COLUMNS=${COLUMNS}`)
  t.equal(columns('100000'), 1000)
  t.equal(terminalWidth(7, none, { COLUMNS: '5' }), 7)
  for (const width of [0, 1001]) t.throws(() => terminalWidth(width), { status: 64, message: /^--width: expected 1 to 1000, found / })
  const input = frames(['TEXT', 'aaaa bbbb cccc'])
  const { stdout } = await run('resp-render', [], { input, env: { AGENTPIPE_RESP_RENDER_WIDTH: '5', COLUMNS: '80' } })
  t.equal(stdout.toString(), 'aaaa\nbbbb\ncccc\n')
  for (const width of ['-1', 'x', '1.5']) t.match(await run('resp-render', ['--width', width]), { status: 64, stderr: /^resp-render: --width: expected / })
})

const THOUGHTS = [
  ['THINKING', 'one two three four five six seven eight'],
  ['THINKING', '\nnine', 'signature', 'x'],
  ['THINKING', 'short'],
  ['TEXT', 'Hi'],
]
const BRIEF = '┊ one two three four five …\n\n┊ short\n\nHi\n'

t.test('thinking', async (t) => {
  const shown = (thinking: 'show' | 'brief' | 'hide') => render(THOUGHTS, { thinking, width: 30 })
  t.equal(shown('show'), '┊ one two three four five six\n┊ seven eight\n┊ nine\n\n┊ short\n\nHi\n')
  t.equal(shown('brief'), BRIEF)
  t.equal(shown('hide'), 'Hi\n')
})

const RESULT = ['TOOL_RESULT', 'c', 'Bash', '1\n2\n3\n4']
const TWO_LINES = '✓ Bash\n  │ 1\n  │ 2\n  │ … 2 lines left out\n'

t.test('tool output', async (t) => {
  const shown = (toolOutput: 'all' | number) => render([RESULT], { toolOutput })
  t.equal(shown('all'), '✓ Bash\n  │ 1\n  │ 2\n  │ 3\n  │ 4\n')
  t.equal(shown(0), '✓ Bash\n')
  t.equal(shown(2), TWO_LINES)
})

t.test('what the executable makes of its options', async (t) => {
  const input = frames(...THOUGHTS, RESULT, ['USAGE', '1', '2', '0', '0'], ['STOP', 'end_turn'])
  const shown = async (...args: string[]) => (await run('resp-render', ['--width', '30', ...args], { input })).stdout.toString()
  t.equal(await shown('--thinking', 'brief', '--tool-output', '2', '--usage'), `${BRIEF}\n${TWO_LINES}\nΣ 1 token in, 2 out, 1 model\n  request\n`)
  t.equal(await shown('--thinking', 'hide', '--tool-output', 'none'), 'Hi\n\n✓ Bash\n')
  t.match(await shown('--tool-output', 'all'), /│ 3\n {2}│ 4\n/)
  t.match(await run('resp-render', ['--tool-output', 'some']), { status: 64 })
})

t.test('the examples of the man page', async (t) => {
  const page = readFileSync(`${root}/packages/resp-render/resp-render.1.md`, 'utf8')
  const examples = page.slice(page.indexOf('## EXAMPLES')).matchAll(/^ {4}(.*)/gm)
  for (const [, example = ''] of examples) t.match(await shell(example, [], { cwd: root }), { status: 0, stderr: '' }, example)
})
