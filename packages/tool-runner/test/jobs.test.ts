import { existsSync, readdirSync } from 'node:fs'
import t from 'tap'
import { Place } from './support/tools.js'

t.test('a command in the background: it is listed, its output comes in parts, it can be waited for', async (t) => {
  const place = new Place(t)
  const [begun, listed, first, rest] = await place.call([
    ['Bash', { command: 'echo one; sleep .3; echo two; exit 3', background: true }],
    ['Jobs', { action: 'list' }],
    ['Bash', { command: 'sleep .1' }],
    ['Jobs', { action: 'wait', job: 'j1', timeout: 20 }],
  ])
  t.match(begun, { status: 'ok', output: /^\[job j1 has begun/ })
  t.match(listed, { status: 'ok', output: /^j1 {2}running for \d s {2}echo one; sleep/ })
  t.match(first, { status: 'ok' })
  t.match(rest, { status: 'ok', output: 'one\ntwo\n[exit status 3]', summary: 'j1: exit status 3' })
  t.same(readdirSync(place.temporary), [], 'nothing is left')
})

t.test('output is given once', async (t) => {
  const place = new Place(t)
  const results = await place.call([
    ['Bash', { command: 'echo one; while [ ! -e go ]; do sleep .05; done; printf two', background: true }],
    ['Bash', { command: 'sleep .2' }],
    ['Jobs', { action: 'output', job: 'j1' }],
    ['Jobs', { action: 'output', job: 'j1' }],
    ['Bash', { command: 'touch go' }],
    ['Jobs', { action: 'wait', job: 'j1' }],
  ])
  t.match(results[2], { output: /^one\n\[running for \d s\]$/ })
  t.match(results[3], { output: /^\[running for \d s\]$/ })
  t.match(results[5], { output: 'two\n[exit status 0]' })
})

t.test('a job that is killed, one that is out of time, one that outlives its turn: nothing runs on', async (t) => {
  const place = new Place(t)
  const results = await place.call([
    ['Bash', { command: 'echo $$ >pid1; trap "" TERM; sleep 983 & wait', background: true }],
    ['Bash', { command: 'echo $$ >pid2; sleep 984', background: true, timeout: 0.3 }],
    ['Bash', { command: 'echo $$ >pid3; sleep 985', background: true }],
    ['Bash', { command: 'while ! [ -s pid1 -a -s pid2 -a -s pid3 ]; do sleep .05; done; cat pid1 pid2 pid3' }],
    ['Jobs', { action: 'kill', job: 'j1' }],
    ['Jobs', { action: 'wait', job: 'j2' }],
  ])
  t.match(results[4], { output: /ended by SIG(KILL|TERM)/ })
  t.match(results[5], { output: '[timed out]' })
  const pids = results[3]?.output.trim().split('\n') ?? []
  t.equal(pids.length, 3)
  for (const pid of pids) t.notOk(existsSync(`/proc/${pid}`), `${pid} is gone`)
})

t.test('more than the model gets: the end of it, and the file with all of it stays', async (t) => {
  const place = new Place(t)
  const [, result] = await place.call(
    [
      ['Bash', { command: 'seq 100000; echo END', background: true }],
      ['Jobs', { action: 'wait', job: 'j1' }],
    ],
    ['--max-output', '1k'],
  )
  t.match(result, { output: /^\[\d+ bytes left out; the whole output is in .*\]\n[\s\S]*\nEND\n\[exit status 0\]$/ })
  t.ok(existsSync(result?.full_output ?? ''))
})

t.test('jobs that there are not', async (t) => {
  const place = new Place(t)
  const results = await place.call([
    ['Jobs', { action: 'output' }],
    ['Jobs', { action: 'list' }],
    ['Bash', { command: 'true', background: true }],
    ['Jobs', { action: 'kill', job: '__proto__' }],
    ['Jobs', { action: 'burn', job: 'j1' }],
  ])
  t.match(results[0], { status: 'error', output: /^job is missing: there are none/ })
  t.match(results[1], { status: 'ok', output: '[no jobs]' })
  t.match(results[3], { status: 'error', output: 'there is no job "__proto__": there are j1' })
  t.match(results[4], { status: 'error', output: /action must be one of list, output, wait, kill/ })
})
