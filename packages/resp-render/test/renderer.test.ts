import t from 'tap'
import { render } from './render.js'

const CALL = ['TOOL_CALL', 'Bash', 'c1', '{"command":"make"}']

t.test('what shows nothing does not cut what is being said', async (t) => {
  const screen = render([
    CALL,
    ['TEXT', 'one wo'],
    ['NEW_TYPE'],
    ['TOOL_OUTPUT', 'c1', 'no line yet'],
    ['USAGE', '1', '1', '0', '0', 'kind', 'sub_agent'],
    ['TEXT', 'rd'],
  ])
  t.equal(screen, '● Bash  make\n\none word\n\n○ Bash  make\n  │ no line yet\n')
  t.equal(
    render([
      ['TEXT', 'one'],
      ['TOOL_OUTPUT', 'c1', 'line\n'],
      ['TEXT', 'two'],
    ]),
    'one\n\n○ c1\n  │ line\n\ntwo\n',
  )
  t.equal(
    render([
      ['TEXT', 'one'],
      ['USAGE', '1', '1', '0', '0'],
      ['TEXT', 'two'],
    ]),
    'one\n\ntwo\n',
    'the next response does',
  )
})

t.test('how a call ended stands at the end of its line, while that is open', async (t) => {
  const result = (...attributes: string[]) => ['TOOL_RESULT', 'c1', 'Bash', '', ...attributes]
  t.equal(render([CALL, ['USAGE', '1', '1', '0', '0'], result('exit_code', '2')]), '● Bash  make  exit 2\n')
  t.equal(render([CALL, ['TEXT', ' '], result()]), '● Bash  make\n')
  t.equal(render([CALL, ['TEXT', 'x'], result('status', 'timeout')]), '● Bash  make\n\nx\n\n✗ Bash  make  timed out\n')
  t.equal(render([CALL, ['TOOL_OUTPUT', 'c1', 'a\n'], result('duration_ms', '999')]), '● Bash  make\n  │ a\n')
  t.equal(render([CALL, ['TOOL_OUTPUT', 'c1', 'a'], result('duration_ms', '1000')]), '● Bash  make\n  │ a\n  └ 1.0s\n')
  t.equal(render([CALL, result('status', 'denied', 'permission', 'policy')]), '● Bash  make  denied by policy\n')
  t.equal(render([CALL, result('exit_code', '0', 'status', 'ok', 'summary', 'exit status 0')]), '● Bash  make\n')
  t.equal(render([result()]), '✓ Bash\n', 'a result whose call nobody saw')
})

t.test('RETRY says whether something is void', async (t) => {
  t.match(render([['TEXT', 'x'], ['RETRY']]), /What was just said is void/)
  t.notMatch(render([['TEXT', 'x'], ['USAGE', '1', '1', '0', '0'], ['RETRY']]), /void/)
  t.match(render([['RETRY', 'attempt', '2', 'delay_ms', '90000']]), '(attempt 2, in 1m 30s)')
})

t.test('a permission request shows all of what would be done', async (t) => {
  const long = `${'x'.repeat(5000)}\n${'line\n'.repeat(300)}end`
  const screen = render([['PERMISSION_REQUEST', 'c1', 'Bash', 'rule', 'input', long]], { toolOutput: 0 })
  t.equal(
    screen
      .replace(/^ {2}[│┆] /gm, '')
      .replace(/\n/g, '')
      .replace('? Bash  asks for permission: rule', ''),
    long.replace(/\n/g, ''),
  )
})

t.test('a permission request can not be misread', async (t) => {
  const asked = (input: string, width = 24) =>
    render([['PERMISSION_REQUEST', 'c1', 'Bash', 'r', 'input', input]], { width })
      .split('\n')
      .slice(2, -1)
  t.same(asked('echo one two three four five\nrm x'), ['  │ echo one two three f', '  ┆ our five', '  │ rm x'], 'a wrapped line is no other line')
  t.same(asked('cat a \u3000b\u2800c\u{e0100}d\ufe0fe  '), ['  │ cat a \\u3000b\\u2800c', '  ┆ \\u{e0100}d\\ufe0fe\\x2', '  ┆ 0\\x20'])
  t.same(asked('x\u001b[2K\ry\u0301'), ['  │ x\\x1b[2K\\ry\u0301'])
})

t.test('calls that never end do not grow without bound', async (t) => {
  const frames = Array.from({ length: 5000 }, (_, index) => ['TOOL_CALL', 'Bash', `c${index}`, '{"command":"x"}'])
  t.match(render([...frames, ['TOOL_RESULT', 'c0', 'Bash', ''], ['TOOL_RESULT', 'c4999', 'Bash', '']]), /\n✓ Bash\n✓ Bash {2}x\n$/)
})

t.test('of a long message of the user the beginning and the end are shown', async (t) => {
  const lines = (count: number) => Array.from({ length: count }, (_, index) => `${index + 1}`)
  const shown = (text: string, toolOutput: 10 | 'all' = 10) => render([['USER_MESSAGE', text]], { toolOutput }).split('\n')
  t.same(
    shown(lines(21).join('\n')).slice(0, -1),
    [
      `> 1`,
      ...lines(21)
        .slice(1)
        .map((line) => `  ${line}`),
    ],
    'a note in place of one line saves nothing',
  )
  t.same(shown(lines(22).join('\n')).slice(13, 17), ['  14', '  … 2 lines left out', '  17', '  18'])
  t.same(shown(lines(5000).join('\r\n')).slice(13, 17), ['  14', '  … 4,980 lines left out', '  4995', '  4996'])
  t.equal(shown(lines(5000).join('\n'), 'all').length, 5001)
  t.match(
    shown(`${'😀'.repeat(1500)}\nend`)
      .slice(-3)
      .join(),
    /😀 … 1,000 more characters, {2}end,$/,
  )
  t.equal(shown(`a\tb\n${'\n'.repeat(40)}c\u202e`).at(-2), '  c\\u202e')
})
