import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { root, run, shell } from '@agentpipe/testing'
import t, { type Test } from 'tap'
import { Workspace } from './support/capture.js'

const host = ['registry', 'npmjs.org'].join('.')
const home = ['', 'home', 'me', 'x'].join('/')

/** What the house rules say of a repository with these files. */
async function breaches(t: Test, files: Readonly<Record<string, string>>) {
  const { directory } = new Workspace(t, Buffer.alloc(0))
  const all = {
    'package.json': '{"bin":{"tool":"dist/lib/agentpipe/tool"}}',
    'packages/tool/src/main.ts': '',
    'packages/tool/tool.1.md': '',
    'packages/tool/README.md': '',
    'scripts/house-rules.mjs': readFileSync(join(root, 'scripts/house-rules.mjs'), 'utf8'),
    ...files,
  }
  for (const [name, text] of Object.entries(all)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true })
    writeFileSync(join(directory, name), text)
  }
  await shell('rm model.resp; git init -q . && git add -Af .', [], { cwd: directory })
  const { status, stderr } = await run('node', ['scripts/house-rules.mjs'], { cwd: directory })
  t.equal(status, stderr === '' ? 0 : 1)
  return stderr.trimEnd().split('\n')
}

t.test('what a house in order says', async (t) => {
  const source = "import { a } from '@agentpipe/frame'\nimport { b } from './b.js'\nimport { join } from 'node:path'\n"
  t.same(await breaches(t, { 'packages/stage/src/x.ts': source, 'packages/tool/src/x.ts': source }), [''])
})

t.test('each breach is found', async (t) => {
  const found: Record<string, [file: string, text: string, breach: string]> = {
    upwards: ['packages/frame/src/x.ts', "import { a } from '@agentpipe/message'\n", 'packages/frame/src/x.ts:1: frame must not import message'],
    sideways: ['packages/tool/src/x.ts', "\nconst a = await import('@agentpipe/other')\n", 'packages/tool/src/x.ts:2: tool must not import other'],
    'behind the back': ['packages/tool/src/x.ts', "import '../../other/src/y.js'\n", 'packages/tool/src/x.ts:1: imports a file of another package'],
    long: ['packages/tool/src/x.ts', '\n'.repeat(251), 'packages/tool/src/x.ts: 251 lines, at most 250: split it by noun'],
    printing: ['packages/tool/src/x.ts', 'console.log(1)\n', 'packages/tool/src/x.ts:1: write through Output: descriptor 1 carries frames'],
    path: ['notes.md', `see ${home}\n`, 'notes.md:1: a path of somebody’s machine'],
    host: ['notes.md', `${host}\n`, 'notes.md:1: the host name of a registry'],
    lock: ['package-lock.json', '"resolved": "https://x.example/y.tgz"\n', 'package-lock.json:1: a registry URL: install with omit-lockfile-registry-resolved'],
    generated: ['packages/tool/build/x.js', '', 'packages/tool/build/x.js: generated: git must not track it'],
    'no manual': ['packages/other/src/main.ts', '', 'packages/other/other.1.md: is missing'],
  }
  for (const [name, [file, text, breach]] of Object.entries(found)) t.ok((await breaches(t, { [file]: text })).includes(breach), name)
})

t.test('a bin that is missing', async (t) => {
  t.same(await breaches(t, { 'package.json': '{"bin":{}}' }), ['package.json: bin must name tool, each as dist/lib/agentpipe/NAME'])
})
