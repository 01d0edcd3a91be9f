import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { frames, run, shell } from '@agentpipe/testing'
import t from 'tap'
import { AnthropicServer, says } from './support/anthropic-server.js'
import { Ring } from './support/ring.js'

const SKILL = (name: string, description: string) => `---\nname: ${name}\ndescription: ${description}\n---\n# How\n`

/** What `agent-loop --show-prompt` prints in `cwd`, a directory of `home`. */
async function shown(home: string, cwd: string, args: readonly string[] = [], input: Uint8Array = Buffer.alloc(0), env: Record<string, string> = {}) {
  const ended = await run('agent-loop', ['--show-prompt', ...args], {
    cwd: join(home, cwd),
    input,
    env: { HOME: home, XDG_CONFIG_HOME: join(home, '.config'), SHELL: '/bin/zsh', ...env },
  })
  return { ...ended, text: ended.stdout.toString() }
}

t.test('the prompt holds the environment and the instructions, the nearest last', async (t) => {
  const home = t.testdir({
    '.config': { agentpipe: { 'AGENTS.md': 'GLOBAL' } },
    '.claude': { 'CLAUDE.md': 'NOT THIS' },
    'AGENTS.md': 'ABOVE THE PROJECT',
    work: {
      '.git': { HEAD: 'ref: refs/heads/topic/x\n' },
      'AGENTS.md': 'ROOT',
      'CLAUDE.md': '@AGENTS.md',
      a: { 'AGENTS.md': '@CLAUDE.md\n', 'CLAUDE.md': 'MIDDLE', b: { 'AGENTS.md': '  \n', 'CLAUDE.md': 'ROOT\n' } },
    },
  })
  const { status, stderr, text } = await shown(home, 'work/a/b')
  t.same([status, stderr], [0, ''])
  t.match(text, /^=== system prompt ===\n\nYou are agentpipe/)
  t.match(text, new RegExp(`- Working directory: ${home}/work/a/b\n- Git: the repository ${home}/work, branch topic/x when`))
  t.match(text, /- Shell: zsh\n- Date: \d{4}-\d\d-\d\d\n/)
  t.match(text, /GLOBAL[\s\S]*work\/AGENTS.md\n\nROOT[\s\S]*work\/a\/CLAUDE.md\n\nMIDDLE/)
  t.notMatch(text, /NOT THIS|ABOVE THE PROJECT|@AGENTS|@CLAUDE|ROOT[\s\S]*ROOT/)
  t.match(text, /=== tools ===\n\n\(none\)\n\n=== messages ===\n\n\(none\)\n\n$/)
})

t.test('without a repository the directory is the project; ~/.claude/CLAUDE.md counts where there is no other', async (t) => {
  // Test directories are in our own repository.
  const home = mkdtempSync(join(tmpdir(), 'prompt-'))
  t.teardown(() => rmSync(home, { recursive: true }))
  cpSync(t.testdir({ '.claude': { 'CLAUDE.md': 'MINE' }, x: { 'AGENTS.md': 'NOT THIS', y: { 'CLAUDE.md': 'HERE' } } }), home, { recursive: true })
  const { text } = await shown(home, 'x/y')
  t.match(text, /- Git: no repository\n/)
  t.match(text, /MINE[\s\S]*HERE/)
  t.notMatch(text, /NOT THIS/)
})

t.test('files that are no text of the project are left out, and said to be', async (t) => {
  const home = t.testdir({
    '.ssh': { id: 'PRIVATE' },
    fifo: { '.git': {} },
    link: { '.git': {} },
    big: { '.git': {}, 'AGENTS.md': `${'é'.repeat(40_000)}END` },
    bytes: { '.git': {}, 'AGENTS.md': Buffer.from('\xef\xbb\xbfa\0b\xffc\x1b[2J\u202e', 'latin1') },
    directory: { '.git': {}, 'AGENTS.md': {} },
    worktree: { '.git': 'gitdir: ../elsewhere\n' },
    elsewhere: { HEAD: 'ref: refs/heads/wt\n' },
    config: { '.git': { config: 'PASSWORD' } },
    loop: {},
  })
  await shell('mkfifo fifo/AGENTS.md', [], { cwd: home })
  symlinkSync('../.ssh/id', join(home, 'link/AGENTS.md'))
  const fifo = await shown(home, 'fifo')
  t.match(fifo, { status: 0, stderr: /AGENTS.md is left out of the system prompt: it is no regular file\n$/ })
  const link = await shown(home, 'link')
  t.match(link, { status: 0, stderr: /AGENTS.md is left out of the system prompt: it is a link to .*\.ssh\/id, outside of the project\n$/ })
  t.notMatch(link.text, /PRIVATE/)
  symlinkSync('.git/config', join(home, 'config/AGENTS.md'))
  const config = await shown(home, 'config')
  t.match(config, { status: 0, stderr: /it is a link into \.git, which may hold passwords\n$/ })
  t.notMatch(config.text, /PASSWORD/)
  symlinkSync('.git', join(home, 'loop/.git'))
  t.match(await shown(home, 'loop'), { status: 0, stderr: '' })
  const big = await shown(home, 'big')
  t.match(big, {
    status: 0,
    stderr: /of .*AGENTS.md the first 64 KiB are in the system prompt: it has 80003 bytes\n$/,
    text: /the rest of .*AGENTS.md is left out/,
  })
  t.notMatch(big.text, /END/)
  const bytes = await shown(home, 'bytes')
  t.match(bytes.text, /\n\na\uFFFDb\uFFFDc\\x1b\[2J/)
  t.match(await shown(home, 'directory'), { status: 0, stderr: /it is no regular file/ })
  t.match((await shown(home, 'worktree')).text, /branch wt when/)
})

t.test('skills are told by their front matter, those of the project first', async (t) => {
  const home = t.testdir({
    '.claude': { skills: { one: { 'SKILL.md': SKILL('one', 'mine') }, two: { 'SKILL.md': SKILL('two', '>\n  folded\n  lines') } } },
    work: {
      '.git': {},
      '.agents': {
        skills: {
          one: { 'SKILL.md': SKILL('one', '"the: project\'s"') },
          plain: { 'SKILL.md': SKILL('plain', 'Use when: somebody asks').replaceAll('\n', '\r\n') },
          bad: { 'SKILL.md': '---\nname: [\n---\n' },
          less: { 'SKILL.md': '---\nname: less\n---\n' },
          none: { 'SKILL.md': 'no front matter' },
          empty: {},
        },
      },
    },
  })
  mkdirSync(join(home, 'work/.claude/skills/out'), { recursive: true })
  writeFileSync(join(home, 'secret'), SKILL('secret', 'PRIVATE'))
  symlinkSync('../../../../secret', join(home, 'work/.claude/skills/out/SKILL.md'))
  const { status, stderr, text } = await shown(home, 'work')
  t.equal(status, 0)
  t.match(
    text,
    /# Skills\n\n[^\n]*\n\n- one: the: project's \(.*work\/\.agents\/skills\/one\/SKILL\.md\)\n- plain: Use when: somebody asks \(.*\n- two: folded lines \(/,
  )
  t.notMatch(text, /mine|PRIVATE/)
  t.same(
    stderr
      .trimEnd()
      .split('\n')
      .map((line) => line.replace(/^.*skills\//, '').replace(/link to.*/, 'link')),
    [
      'bad/SKILL.md is left out of the system prompt: its front matter has no name and description',
      'less/SKILL.md is left out of the system prompt: its front matter has no name and description',
      'out/SKILL.md is left out of the system prompt: it is a link',
    ],
  )
})

t.test('--system takes the place of our own prompt, --no-context of all the rest', async (t) => {
  const home = t.testdir({ 'AGENTS.md': 'RULES', mine: 'MY OWN' })
  const system = await shown(home, '.', ['--system=mine', '--append-system=AND THIS'])
  t.match(system.text, /^=== system prompt ===\n\nMY OWN\n\n# Environment\n[\s\S]*RULES\n\nAND THIS\n\n=== tools/)
  t.notMatch(system.text, /You are agentpipe/)
  t.match((await shown(home, '.', ['--no-context', '--append-system=THIS'])).text, /^=== system prompt ===\n\nTHIS\n\n=== tools/)
  t.match((await shown(home, '.', ['--no-context'])).text, /^=== system prompt ===\n\n\(none\)\n\n/)
  t.match(await shown(home, '.', ['--system=nosuch']), { status: 66, stderr: /^agent-loop: cannot read nosuch: / })
})

t.test('--show-prompt takes tools, history and input from stdin, needs no key and lets nothing act on a terminal', async (t) => {
  const home = t.testdir({})
  const input = frames(
    ['TOOL_DEF', 'Do', 'Does\x1b[31m it', '{"type":"object"}'],
    ['HELLO', '1', 's'],
    ['HISTORY', 'USER_MESSAGE', 'before'],
    ['HISTORY', 'TOOL_CALL', 'Do', 'c1', '{"n":1}'],
    ['HISTORY', 'USAGE', '1', '1', '0', '0', 'model', 'm'],
    ['HISTORY', 'TOOL_RESULT', 'c1', 'Do', 'out\x1b]0;x\x07', 'status', 'error'],
    ['USER_INPUT', 'now\ttab'],
  )
  const { status, stderr, text } = await shown(home, '.', ['--no-context'], input, { ANTHROPIC_API_KEY: 'sk-secret' })
  t.same([status, stderr], [0, ''])
  t.match(text, 'Do: Does\\x1b[31m it\n{"type":"object"}\n')
  t.match(text, '--- user ---\nbefore\n\n--- assistant ---\n[call Do c1] {"n":1}\n\n--- user ---\n[result of Do c1, failed] out\\x1b]0;x\\x07\nnow\ttab\n')
  t.notOk(text.includes('\x1b') || text.includes('sk-secret'))
  t.match(await shown(home, '.', [], Buffer.from('junk')), { status: 65, text: '' })

  const forged = await shown(home, '.', ['--no-context', '--no-tools', '--append-system=a\n=== tools ===\n\\--- user ---'], input)
  t.match(forged.text, /^=== system prompt ===\n\na\n\\=== tools ===\n\\\\--- user ---\n\n=== tools ===\n\n\(none\)\n/, 'what looks like a heading is none')
  const history = frames(['HISTORY', 'USER_MESSAGE', 'before'], ['HISTORY', 'TEXT', 'said'], ['HISTORY', 'USAGE', '1', '1', '0', '0', 'model', 'm'])
  t.match((await shown(home, '.', ['--no-context'], history)).text, /--- assistant ---\nsaid\n\n--- user ---\n\(the next input\)\n\n$/)
  t.match((await shown(home, '.', ['--no-context'], Buffer.concat([history, frames(['CONTROL', 'clear', ''])]))).text, /=== messages ===\n\n\(none\)\n/)
})

t.test('--show-prompt at a terminal does not wait', async (t) => {
  const ended = await shell(`script -qefc 'agent-loop --show-prompt --no-context --append-system=THIS' /dev/null </dev/null`, [], { cwd: t.testdir({}) })
  t.equal(ended.status, 0)
  t.match(ended.stdout.toString(), /THIS[\s\S]*=== messages ===/)
})

t.test('a model is sent it, the same with every request; one that is replayed looks for nothing', async (t) => {
  const server = await AnthropicServer.start(t, says({ text: 'One.' }), says({ text: 'Two.' }))
  const ring = new Ring(t, undefined, { env: server.env, args: ['--model=m', '--append-system=LAST'], tools: [] })
  ring.send(['USER_INPUT', 'a'], ['USER_INPUT', 'b'], ['END'])
  t.match(await ring.ended, { status: 0, stderr: '' })
  const [first, second] = server.mock.bodies.map((body) => (body as { system: [{ text: string }] }).system[0].text)
  t.match(first, /^You are agentpipe[\s\S]*LAST$/)
  t.equal(first, second)
})
