import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { eventually, fieldsOf, frames, root, testEnvironment } from '@agentpipe/testing'
import t from 'tap'
import { mcpEntries } from '../src/mcp-config.js'
import { LiveRunner } from './support/live-runner.js'
import { leftOf, running } from './support/processes.js'
import { TestProxy } from './support/proxy.js'
import { Place, type Result, resultsOf } from './support/tools.js'

const EVERYTHING = join(root, 'node_modules/@modelcontextprotocol/server-everything/dist/index.js')
const FILESYSTEM = join(root, 'node_modules/@modelcontextprotocol/server-filesystem/dist/index.js')

function configure(place: Place, mcpServers: unknown): readonly string[] {
  const path = join(place.outside, 'mcp.json')
  writeFileSync(path, JSON.stringify({ mcpServers }))
  return ['--mcp', path, '--tools-wait', '25']
}

/** Calls in a ring whose turn ends at once: the results by id, and all frames. */
async function calls(place: Place, options: readonly string[], list: readonly (readonly [name: string, input: unknown])[], env = {}) {
  const sent = list.map(([name, input], index) => ['TOOL_CALL', name, `c${index}`, JSON.stringify(input)])
  const { stdout, stderr, status } = await place.run(frames(['HELLO', '1', 's'], ...sent, ['STOP', 'end_turn']), options, { SOME_TOKEN: 'secret', ...env })
  const all = resultsOf(stdout)
  return { results: list.map((_, index) => all.find(({ id }) => id === `c${index}`)) as Result[], frames: fieldsOf(stdout), stderr, status }
}

t.test('the tools of real servers, beside one that is dead and one that is not set up', async (t) => {
  const place = new Place(t)
  writeFileSync(join(place.workspace, 'a.txt'), 'hello\n')
  const options = configure(place, {
    everything: { command: 'node', args: [EVERYTHING, 'stdio', '64.125'] },
    'file system': { command: 'node', args: [FILESYSTEM, '${NOWHERE:-.}'] },
    dead: { command: 'sh', args: ['-c', 'echo first >&2; echo no such luck >&2; exit 4'] },
    absent: { command: 'no-such-program' },
    unset: { command: 'true', env: { A: '${SOME_TOKEN}' } },
    off: { command: 'touch', args: ['ran'], disabled: true },
  })
  const { results, frames, stderr, status } = await calls(place, options, [
    ['everything__echo', { message: 'é' }],
    ['everything__get-tiny-image', {}],
    ['everything__get-sum', { a: 1, b: 'x' }],
    ['everything__get-structured-content', { location: 'Chicago' }],
    ['everything__get-env', {}],
    ['file_system__read_text_file', { path: join(place.workspace, 'a.txt') }],
    ['file_system__read_text_file', { path: '/etc/passwd' }],
    ['file_system__write_file', { path: join(place.workspace, 'b.txt'), content: 'written' }],
    ['dead__thing', {}],
  ])
  t.equal(status, 0)
  const definitions = frames.filter(([type]) => type === 'TOOL_DEF')
  t.ok(frames.findIndex(([type]) => type === 'HELLO') === definitions.length && definitions.length > 20, 'in front of HELLO')
  t.match(
    definitions.find(([, name]) => name === 'file_system__write_file'),
    ['TOOL_DEF', 'file_system__write_file', /new file/, /"path"/, 'read_only', 'false'],
  )
  const [echo, image, sum, structured, environment, read, outside, written, dead] = results
  t.match(echo, { status: 'ok', output: 'Echo: é' })
  t.match(image, { status: 'ok', output: /\[image\/png\]/, image_type: 'image/png', image: /^iVBOR/ })
  t.match(sum, { status: 'error', output: /^wrong input: b must be a number, not a string; everything__get-sum takes a \(number\)/ })
  t.match(structured, { status: 'ok', output: /"temperature"/ })
  t.notMatch(environment?.output, /secret/)
  t.match(read, { status: 'ok', output: 'hello\n' })
  t.match(outside, { status: 'error', output: /Access denied/ })
  t.match(written, { status: 'ok' })
  t.equal(readFileSync(join(place.workspace, 'b.txt'), 'utf8'), 'written')
  t.match(dead, { status: 'error', output: "MCP server dead can't be used: it ended with status 4: no such luck" })
  t.match(stderr, /^tool-runner: MCP server absent can't be used: .*ENOENT$/m)
  t.match(stderr, /^tool-runner: MCP server unset can't be used: the variable SOME_TOKEN is not set;/m)
  t.same(await leftOf(`node ${EVERYTHING} stdio 64.125`), [], 'nothing left running')
})

t.test('a slow server delays nobody; its tools come later; one that dies is said to be gone', async (t) => {
  const place = new Place(t)
  const go = join(place.workspace, 'go')
  const options = configure(place, {
    late: { command: 'sh', args: ['-c', `sleep 65.125 & echo banner; until [ -e '${go}' ]; do sleep 0.1; done; exec node ${EVERYTHING} stdio 65.125`] },
  })
  const runner = new LiveRunner(t, place, [...options, '--tools-wait', '0'])
  runner.send('HELLO', '1', 's')
  runner.call('late__echo', 'c1', { message: 'early' })
  runner.call('Bash', 'c2', { command: 'echo meanwhile' })
  t.match(await runner.result('c2'), { output: 'meanwhile\n' })
  t.notOk(runner.frames.some(([type, name]) => type === 'TOOL_DEF' && name === 'late__echo'))
  writeFileSync(go, '')
  t.match(await runner.result('c1'), { status: 'ok', output: 'Echo: early' })
  t.ok(runner.frames.some(([type, name]) => type === 'TOOL_DEF' && name === 'late__echo'))
  runner.call('late__trigger-long-running-operation', 'c3', { duration: 60, steps: 600 })
  await runner.untilPrinted('c3', '2 of 600\n')
  runner.send('INTERRUPT', 'n', 'call', 'c3')
  t.match(await runner.result('c3'), { status: 'cancelled' })
  const [server] = running(`node ${EVERYTHING} stdio 65.125`)
  process.kill(server as number, 'SIGKILL')
  await eventually(() => running(`node ${EVERYTHING} stdio 65.125`).length === 0)
  runner.call('late__echo', 'c4', { message: 'x' })
  t.match(await runner.result('c4'), { status: 'error', output: /^MCP server late is gone: it was ended by SIGKILL/ })
  runner.process.kill('SIGKILL')
  t.same(await leftOf('sleep 65.125'), [], 'not even after kill -9')
})

t.test('time limits, modes and rules hold for them', async (t) => {
  const place = new Place(t)
  const options = configure(place, { e: { command: 'node', args: [EVERYTHING], timeout: 300 } })
  const list = [
    ['e__trigger-long-running-operation', { duration: 5, steps: 1 }],
    ['e__toggle-simulated-logging', {}],
    ['e__echo', { message: 'x' }],
  ] as const
  const { results } = await calls(place, [...options, '--mode', 'read-only', '--deny', 'e__ec*', '--tools', 'Read,e__*'], list)
  t.match(results, [
    { status: 'timeout', output: 'timed out after 0.3 s' },
    { status: 'denied', output: /can change things/ },
    { status: 'denied', output: 'denied by deny e__ec*' },
  ])
})

t.test('a server at an address', async (t) => {
  const place = new Place(t)
  const port = await freePort()
  const server = spawn('node', [EVERYTHING, 'streamableHttp'], { env: testEnvironment({ PORT: String(port), NODE_OPTIONS: undefined }), stdio: 'ignore' })
  t.teardown(() => server.kill('SIGKILL'))
  const url = `http://127.0.0.1:${port}/mcp`
  t.ok(await eventually(() => fetch(url).then(Boolean, () => false), 60_000))
  const nowhere = { url: 'http://127.0.0.1:1/mcp' }
  const proxy = await TestProxy.start(t, () => port)
  const servers = { web: { type: 'http', url, headers: { 'X-A': 'b' } }, nowhere, behind: { url: 'http://1.1.1.1/mcp' } }
  const list = [
    ['web__echo', { message: 'far' }],
    ['behind__echo', { message: 'farther' }],
  ] as const
  const { results, stderr } = await calls(place, configure(place, servers), list, { http_proxy: proxy.url })
  t.match(results, [
    { status: 'ok', output: 'Echo: far' },
    { status: 'ok', output: 'Echo: farther' },
  ])
  t.match(stderr, /^tool-runner: MCP server nowhere can't be used: .*\n$/)
})

t.test('a file that is none is said, with its place', async (t) => {
  const place = new Place(t)
  const path = join(place.outside, 'mcp.json')
  for (const [text, problem] of [
    ['{', /not JSON/],
    ['[]', /expected a JSON object/],
    ['{}', /no object "mcpServers"/],
    ['{"mcpServers":{"a":{}}}', /server "a": it needs a command, or a url/],
    ['{"mcpServers":{"a":{"command":"x","args":"y"}}}', /server "a": args must be an array/],
  ] as const) {
    writeFileSync(path, text)
    t.throws(() => mcpEntries(path), problem)
  }
  t.match(await place.run(Buffer.alloc(0), ['--mcp', path]), { status: 78, stderr: /^tool-runner: .*server "a": args must be an array.*\n$/ })
})

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}
