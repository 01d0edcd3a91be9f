import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { frames } from '@agentpipe/testing'
import t from 'tap'
import { isPrivateName } from '../src/addresses.js'
import { LiveRunner } from './support/live-runner.js'
import { TestProxy } from './support/proxy.js'
import { Place, resultsOf } from './support/tools.js'

const PAGE = `<!doctype html><html><head><title>T</title><style>x{}</style></head><body><h1>H\xe9</h1><script>evil()</script>
<p>See <a href="/a?b=c">this</a>, <a href="javascript:x">not that</a> <img src=x alt="a picture"><img src=y></p>
<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table><pre><code>x  y
z</code></pre><ul><li>one<li>two</ul></body></html>`
const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')

type Answer = (response: ServerResponse, request: IncomingMessage) => void
const page =
  (type: string, body: string | Buffer, headers: Record<string, string> = {}): Answer =>
  (response) =>
    response.writeHead(200, type === '' ? headers : { 'Content-Type': type, ...headers }).end(body)
const redirect =
  (location: string): Answer =>
  (response) =>
    response.writeHead(302, { Location: location }).end('moved')

const ANSWERS: Record<string, Answer> = {
  '/': page('text/html; charset=iso-8859-1', Buffer.from(PAGE, 'latin1')),
  '/text': page('text/plain', gzipSync('plain é'), { 'Content-Encoding': 'gzip' }),
  '/json': page('application/problem+json', '{"a":1}'),
  '/image': page('application/octet-stream', PNG),
  '/binary': page('application/pdf', '%PDF'),
  '/missing': (response) => response.writeHead(404, { 'Content-Type': 'text/html' }).end('<p>no <b>such</b> page</p>'),
  '/moved': redirect('/text'),
  '/loop': redirect('/loop'),
  '/inside': redirect('http://[::ffff:127.0.0.2]:1/'),
  '/file': redirect('file:///etc/passwd'),
  '/bomb': page('text/plain', gzipSync(Buffer.alloc(50 * 1024 * 1024)), { 'Content-Encoding': 'gzip' }),
  '/deep': page('text/html', '<div>'.repeat(200_000)),
  '/never': (response) => response.writeHead(200).write('x'),
  '/headers': (response, request) => response.end(JSON.stringify(request.headers)),
}

t.test('pages, and what is none', async (t) => {
  const server = createServer((request, response) => ANSWERS[request.url as string]?.(response, request))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.closeAllConnections())
  t.teardown(() => server.close())
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const place = new Place(t)
  const allowed = ['--allow', 'WebFetch(127.0.0.1)']
  const fetch = (path: string) => ['WebFetch', { url: base + path }] as const
  const paths = ['/', '/text', '/json', '/image', '/binary', '/missing', '/moved', '/loop', '/inside', '/file', '/bomb', '/headers']
  const results = new Map((await place.call(paths.map(fetch), allowed)).map((result, index) => [paths[index], result]))
  const { output = '' } = results.get('/') ?? {}
  t.ok(output.startsWith(`T\n\n# Hé\n\nSee [this](${base}/a?b=c), not that`), output)
  for (const part of ['[image: a picture]', /\| a +\| b +\|\n\| --- \| --- \|\n\| 1 +\| 2 +\|/, '```\nx  y\nz\n```', /^- +one\n- +two$/m]) t.match(output, part)
  t.notMatch(output, /evil|x\{\}/)
  t.match(results.get('/'), { status: 'ok', permission: 'allow WebFetch(127.0.0.1)' })
  t.match(results.get('/text'), { status: 'ok', output: 'plain é' })
  t.match(results.get('/json'), { status: 'ok', output: '{"a":1}' })
  t.match(results.get('/image'), { status: 'ok', image_type: 'image/png', image: PNG.toString('base64') })
  t.match(results.get('/binary'), { status: 'error', output: /^not shown: application\/pdf, 4 bytes/ })
  t.match(results.get('/missing'), { status: 'error', output: '[HTTP 404 Not Found]\nno **such** page' })
  t.match(results.get('/moved'), { status: 'ok', output: `[from ${base}/text]\nplain é` })
  t.match(results.get('/loop'), { status: 'error', output: /more than 10 redirections/ })
  t.match(results.get('/inside'), { status: 'denied', output: /7f00:2\] is a private address/ }, 'each step of a redirection is judged')
  t.match(results.get('/file'), { status: 'error', output: /^file: is not fetched/ })
  t.match(results.get('/bomb'), { status: 'error', output: /larger than 10485760 bytes/ })
  t.match(await place.callOne(...fetch('/deep'), [...allowed, '--timeout', '1']), { status: /^(error|timeout)$/ }, 'a page made to be slow to convert')
  t.notMatch(results.get('/headers')?.output, /cookie|authorization|referer/i)

  const runner = new LiveRunner(t, place, allowed)
  runner.call('WebFetch', 'c1', { url: `${base}/never` })
  runner.call('WebFetch', 'c2', { url: `${base}/text` })
  t.match(await runner.result('c2'), { status: 'ok' }, 'side by side')
  runner.send('INTERRUPT', 'n', 'call', 'c1')
  t.match(await runner.result('c1'), { status: 'cancelled' })
})

t.test('private addresses, however they are written, unless a rule names the host', async (t) => {
  const place = new Place(t)
  const hosts = [
    '127.0.0.1:9',
    'localhost:9',
    '2130706433:9',
    '0x7f.1:9',
    '[::1]:9',
    '[::ffff:10.0.0.1]:9',
    '[64:ff9b::a00:1]:9',
    '10.1.2.3:9',
    '169.254.169.254',
  ]
  const calls = [...hosts, '0.0.0.0:9', '192.168.1.1:9', '100.64.0.1:9', '[fe80::1]:9', '[fd00::1]:9'].map(
    (host) => ['WebFetch', { url: `http://${host}/` }] as const,
  )
  for (const options of [
    ['--allow', 'WebFetch'],
    ['--mode', 'read-only', '--allow', 'WebFetch(*)'],
  ])
    for (const [index, result] of (await place.call(calls, options)).entries()) t.match(result, { status: 'denied' }, `${calls[index]?.[1].url}`)
  const denied = await place.call(calls.slice(0, 2), ['--mode', 'full', '--deny', 'WebFetch(localhost)'])
  t.match(denied, [
    { status: 'error', output: /can't be had: connect ECONNREFUSED/ },
    { status: 'denied', output: 'denied by deny WebFetch(localhost)' },
  ])
  const wrong = await place.call([
    ...calls,
    ['WebFetch', { url: 'ftp://a.test/' }],
    ['WebFetch', { url: 'a.test' }],
    ['WebFetch', { url: 'https://user:word@a.test/' }],
    ['WebFetch', { url: 'http://no-such-host.invalid/' }],
  ])
  for (const result of wrong.splice(0, calls.length)) t.match(result, { status: 'denied' })
  t.match(wrong, [
    { output: /ftp: is not fetched/ },
    { output: '"a.test" is no URL' },
    { output: /name or password/ },
    { output: /no-such-host.invalid can't be found/ },
  ])
})

t.test('through a proxy, as curl goes: asked for http, a tunnel for https, not for what NO_PROXY names; private addresses stay so', async (t) => {
  const server = createServer((request, response) => ANSWERS[request.url as string]?.(response, request))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.closeAllConnections())
  t.teardown(() => server.close())
  const proxy = await TestProxy.start(t, () => (server.address() as AddressInfo).port)
  const place = new Place(t)
  const urls = ['http://1.1.1.1/text', 'http://1.1.1.1/moved', 'https://1.1.1.1/', 'http://10.0.0.1/text']
  const calls = frames(...urls.map((url, index) => ['TOOL_CALL', 'WebFetch', `c${index}`, JSON.stringify({ url })] as const))
  const { stdout, stderr } = await place.run(calls, [], { http_proxy: proxy.url, HTTPS_PROXY: proxy.url, NO_PROXY: 'example.com', no_proxy: undefined })
  const results = resultsOf(stdout).sort((a, b) => (a.id < b.id ? -1 : 1))
  t.match(results, [
    { status: 'ok', output: 'plain é' },
    { status: 'ok', output: '[from http://1.1.1.1/text]\nplain é' },
    { status: 'error', output: /^https:\/\/1.1.1.1\/ can't be had through the proxy 127.0.0.1:\d+ \(HTTPS_PROXY\): / },
    { status: 'denied', output: /10.0.0.1 is a private address/ },
  ])
  t.same(proxy.asked.sort(), ['CONNECT 1.1.1.1:443', 'http://1.1.1.1/moved', 'http://1.1.1.1/text', 'http://1.1.1.1/text'])
  t.notMatch(`${stdout}${stderr}`, 'word')
})

const skip = spawnSync('openssl', ['version']).status === 0 ? false : 'there is no openssl to make a certificate with'

t.test('https through the tunnel of a proxy, by a certificate that NODE_EXTRA_CA_CERTS names and by no other', { skip }, async (t) => {
  const place = new Place(t)
  const [key, certificate] = ['key.pem', 'certificate.pem'].map((name) => join(place.outside, name)) as [string, string]
  const made = spawnSync('openssl', [
    ...'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=site.example -addext'.split(' '),
    'subjectAltName=DNS:site.example',
    ...['-keyout', key, '-out', certificate],
  ])
  t.equal(made.status, 0, made.stderr.toString())
  const server = createSecureServer({ key: readFileSync(key), cert: readFileSync(certificate) }, (_request, response) => response.end('by a tunnel'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.closeAllConnections())
  t.teardown(() => server.close())
  const proxy = await TestProxy.start(t, () => 0, (server.address() as AddressInfo).port)
  const call = frames(['TOOL_CALL', 'WebFetch', 'c1', '{"url":"https://site.example/"}'])
  const env = { https_proxy: proxy.url, HTTPS_PROXY: proxy.url, NO_PROXY: undefined, no_proxy: undefined }
  const trusted = await place.run(call, [], { ...env, NODE_EXTRA_CA_CERTS: certificate })
  t.match(resultsOf(trusted.stdout), [{ status: 'ok', output: 'by a tunnel' }])
  t.match(resultsOf((await place.run(call, [], env)).stdout), [{ status: 'error', output: /through the proxy .*self-signed certificate/ }])
  t.same(proxy.asked, ['CONNECT site.example:443', 'CONNECT site.example:443'])
})

t.test('names that nobody outside has', (t) => {
  for (const name of ['intranet', 'a.local', 'metadata.google.internal', 'A.LAN', 'x.home.arpa.', 'b.corp']) t.ok(isPrivateName(name), name)
  for (const name of ['example.com', 'local.example.com', 'a.dev.']) t.notOk(isPrivateName(name), name)
  t.end()
})
