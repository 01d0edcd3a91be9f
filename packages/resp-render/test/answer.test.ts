import type { FieldValue } from '@agentpipe/frame'
import { frames, framesOf, run } from '@agentpipe/testing'
import t from 'tap'
import { AnswerText } from '../src/answer-text.js'
import { Report } from '../src/report.js'

const CALL = ['TOOL_CALL', 'Bash', 'c1', '{}']
const RESULT = ['TOOL_RESULT', 'c1', 'Bash', 'output']
const USAGE = ['USAGE', '10', '20', '3', '4']
const STOP = ['STOP', 'end_turn']
const say = (text: FieldValue) => ['TEXT', text]

/** What a format prints of frames. */
function printed(rendering: AnswerText | Report, list: readonly (readonly FieldValue[])[]): string {
  for (const frame of framesOf(frames(...list))) rendering.frame(frame)
  const before = rendering.take()
  rendering.end()
  return before + rendering.take()
}

const answer = (...list: readonly (readonly FieldValue[])[]) => printed(new AnswerText(), list)

t.test('the executable', async (t) => {
  const input = frames(['HELLO', '1', 's'], say('All '), say('done.\u202e'), STOP)
  t.match(await run('resp-render', ['--format', 'text'], { input }), { status: 0, stderr: '', stdout: Buffer.from('All done.\\u202e\n') })
  const { stdout } = await run('resp-render', ['--format', 'json'], { input })
  t.match(JSON.parse(stdout.toString()), { text: 'All done.\u202e', session_id: 's' })
})

t.test('--format text is the answer alone', async (t) => {
  t.equal(answer(say('Let me '), say('look.'), CALL, USAGE, RESULT, ['THINKING', 'hm'], say('All '), say('done.'), USAGE, STOP), 'All done.\n')
  t.equal(answer(say('I look.'), CALL, RESULT, say('Done.'), STOP), 'Done.\n', 'without USAGE')
  t.equal(answer(['USER_MESSAGE', 'a'], say('one'), USAGE, STOP, ['USER_MESSAGE', 'b'], say('two\n'), USAGE, STOP), 'one\ntwo\n', 'turn by turn')
  t.equal(answer(say('void'), ['RETRY'], say('good'), STOP), 'good\n')
  t.equal(answer(say('half an ans'), ['STOP', 'interrupted']), 'half an ans\n')
  t.equal(answer(say('no end')), 'no end\n')
  t.equal(answer(CALL, RESULT, STOP), '')
  t.equal(answer(['ERROR', 'x'], ['STOP', 'error']), '')
  t.equal(answer(say('ans'), ['USAGE', '1', '1', '0', '0', 'kind', 'sub_agent'], say('wer'), STOP), 'answer\n')
  t.equal(answer(...[...Buffer.from('é漢\r\n\tx'.repeat(2))].map((byte) => say(Buffer.from([byte]))), STOP), 'é漢\n\txé漢\n\tx\n', 'as it is')
  t.equal(answer(say('a\x1b]52;c;x'), say('\x07b\u009b2Jc\u202e'), STOP), 'abc\\u202e\n', 'but nothing that acts on a terminal')
  t.equal(answer(say('x'.repeat(10_000_000)), STOP).length, 10_000_001)
})

t.test('--format text streams where nothing can be called', async (t) => {
  const shown = (...list: readonly (readonly FieldValue[])[]) => {
    const text = new AnswerText()
    for (const frame of framesOf(frames(...list))) text.frame(frame)
    return text.take()
  }
  t.equal(shown(['HELLO', '1', 's'], say('one')), 'one')
  t.equal(shown(say('one')), '')
  t.equal(shown(['TOOL_DEF', 'Bash', '', '{}'], ['HELLO', '1', 's'], say('one')), '')
  t.equal(shown(['HELLO', '1', 's'], ['TOOL_DEF', 'Bash', '', '{}'], say('one')), '')
  t.equal(answer(['HELLO', '1', 's'], say('void'), ['RETRY'], say('good'), STOP), 'void\ngood\n', 'what is said is said')
})

function report(...list: readonly (readonly FieldValue[])[]) {
  const text = printed(new Report(), list)
  t.equal(text.trimEnd().split('\n').length, 1)
  return JSON.parse(text)
}

t.test('--format json is one object', async (t) => {
  t.same(report(['HELLO', '1', 's-1'], ['USER_MESSAGE', 'hi'], say('look'), CALL, USAGE, RESULT, say('done\u202e\u0085'), USAGE, ['ERROR', 'bad'], STOP), {
    text: 'done\u202e\u0085',
    stop_reason: 'end_turn',
    session_id: 's-1',
    turns: 1,
    tool_calls: 1,
    usage: { input_tokens: 20, output_tokens: 40, cache_read_tokens: 6, cache_creation_tokens: 8 },
    errors: ['bad'],
  })
  t.match(report(say('one'), STOP, ['USER_MESSAGE', 'x'], say('two'), USAGE), { text: 'two', stop_reason: null, turns: 1 })
  t.match(report(say('one'), USAGE, STOP), { text: 'one', stop_reason: 'end_turn' })
  t.match(report(), { text: '', stop_reason: null, session_id: null, errors: [] })
})

t.test('--format json prints nothing that acts on a terminal, and its object even when the input is cut', async (t) => {
  const { stdout, status, stderr } = await run('resp-render', ['--format', 'json'], {
    input: Buffer.concat([frames(say('a\x1b[2J\u009b\u202e')), Buffer.from('*2')]),
  })
  t.equal(stdout.toString().split(',')[0], '{"text":"a\\u001b[2J\\u009b\\u202e"')
  t.match({ status, stderr }, { status: 65, stderr: /truncated at byte/ })
})
