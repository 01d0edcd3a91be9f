import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fixture, frames, root, run, shell } from '@agentpipe/testing'
import { build, type PluginBuild } from 'esbuild'
import t, { type Test } from 'tap'
import { optionForm } from '../src/help.js'
import type { OptionTable, StageSpec } from '../src/index.js'

/** Every executable, by the rule that a package with a main.ts is one. */
const EXECUTABLES = readdirSync(join(root, 'packages')).filter((name) => existsSync(join(root, 'packages', name, 'src', 'main.ts')))

/** Each page is asked for once. */
const pages = new Map<string, Promise<string[]>>()

function help(...words: string[]): Promise<string[]> {
  const [name = '', ...verb] = words
  const page = pages.get(words.join(' ')) ?? run(name, [...verb, '--help']).then(({ stdout }) => stdout.toString().trimEnd().split('\n'))
  pages.set(words.join(' '), page)
  return page
}

/** The verbs that a --help lists: lines between its first and the next blank line, where its usage has VERB. */
function verbsOf(lines: readonly string[]): string[] {
  if (!lines.some((line) => /^(usage:| {3}or:) \S+ VERB/.test(line))) return []
  const start = lines.indexOf('') + 1
  return lines.slice(start, lines.indexOf('', start)).map((line) => line.trim().split(' ')[0] as string)
}

const usageLines = (lines: readonly string[]) => lines.filter((line) => /^(usage:| {3}or:) /.test(line)).map((line) => line.slice(7))
const optionsOf = (lines: readonly string[]) => lines.flatMap((line) => /^ {2}(?:-\w, )?--([a-z-]+)/.exec(line)?.[1] ?? [])

for (const name of EXECUTABLES) {
  t.test(`${name}: --help is one screen and ends in two examples`, async (t) => {
    const lines = await help(name)
    for (const verb of ['', ...verbsOf(lines)]) {
      const page = verb === '' ? lines : await help(name, verb)
      t.ok(page.length <= 24, `${name} ${verb}: ${page.length} lines`)
      for (const line of page.slice(0, -2).filter((line) => line.length > 80)) t.fail(`longer than 80 columns: ${line}`)
      t.match(page[0], `usage: ${name}${verb === '' ? '' : ` ${verb}`}`)
      t.equal(page.at(-3), '', `${name} ${verb}: two examples`)
      for (const example of page.slice(-2)) t.match(example, name)
    }
    t.match(await run(name, ['--version']), { status: 0, stderr: '' })
    t.match((await run(name, ['--version'])).stdout.toString(), new RegExp(`^${name} \\(agentpipe\\) \\d+\\.\\d+\\.\\d+\\n$`))
    t.match(await run(name, ['--nosuch']), { status: 64, stdout: Buffer.alloc(0), stderr: new RegExp(`^${name}: [^\\n]+\\n$`) })
  })

  t.test(`${name}: the man page has the usage and all the options, and no others`, async (t) => {
    const source = join(root, 'packages', name, `${name}.1.md`)
    if (!existsSync(source)) return t.fail(`there is no ${name}.1.md`)
    const page = readFileSync(source, 'utf8')
    const lines = await help(name)
    const verbs = verbsOf(lines)
    const pages = [lines, ...(await Promise.all(verbs.map((verb) => help(name, verb))))]

    const synopsis = section(page, 'SYNOPSIS')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => line.replaceAll(/[`*]/g, ''))
    const short = usageLines(lines)
    const full = [...short.filter((line) => !line.includes(' VERB')), ...pages.slice(1).flatMap(usageLines)]
    t.ok(
      [short, full].some((form) => form.join('\n') === synopsis.join('\n')),
      `SYNOPSIS is ${synopsis.join(' / ')}, --help has ${full.join(' / ')}`,
    )

    const { options } = await specOf(t, name)
    const documented = new Set([...section(page, 'OPTIONS').matchAll(/`(?:-\w`, `)?--([a-z-]+)[^`]*`(?=[,:`])/g)].map(([, option]) => option as string))
    for (const option of new Set(pages.flatMap(optionsOf))) t.ok(documented.has(option), `--${option} stands in the man page`)
    for (const option of documented) {
      if (option === 'help' || option === 'version') continue
      t.ok(Object.hasOwn(options, option), `there is a --${option}`)
    }
  })

  t.test(`${name}: the examples of --help run in any directory, as they stand and in their order`, async (t) => {
    const lines = await help(name)
    const pages = [lines, ...(await Promise.all(verbsOf(lines).map((verb) => help(name, verb))))]
    const directory = t.testdir()
    const env = { ...ASKED_FOR[name], XDG_STATE_HOME: join(directory, 'state'), HOME: directory }
    for (const example of pages.flatMap((page) => page.slice(-2))) {
      if (example.includes('| jq') && (await run('sh', ['-c', 'command -v jq'])).status !== 0) continue
      t.match(await shell(`set -o pipefail; ${example}`, [], { cwd: directory, env }), { status: 0 }, example)
    }
  })

  t.test(`${name}: --help fits any width, and says what only the man page has`, async (t) => {
    const { main } = await specOf(t, name)
    const rare = Object.values(main).filter(({ rare }) => rare).length
    const lines = await help(name)
    const more = rare === 0 ? [] : [`  man ${name} has ${rare} more option${rare === 1 ? '' : 's'}`]
    t.same(
      lines.filter((line) => line.includes(' more option')),
      more,
    )
    const narrow = (await run(name, ['--help'], { env: { COLUMNS: '40' } })).stdout.toString().trimEnd().split('\n')
    for (const line of narrow.slice(0, -2)) t.ok(line.length <= 40, line)
    t.same(narrow.slice(-2), lines.slice(-2), 'an example can be copied')
    t.equal((await run(name, ['-h'])).stdout.toString(), `${lines.join('\n')}\n`)
  })

  t.test(`${name}: the man page has the text of every option, rare ones too`, async (t) => {
    const { options } = await specOf(t, name)
    const page = section(readFileSync(join(root, 'packages', name, `${name}.1.md`), 'utf8'), 'OPTIONS')
    for (const [option, spec] of Object.entries(options)) {
      const form = optionForm(option, spec).replace(/^-\w, /, '')
      const item = page.split(/\n {2}\* /).find((item) => item.split('\n')[0]?.includes(`\`${form}\``))
      if (item === undefined) t.fail(`\`${form}\` is not in the man page`)
      // The page may say the rest, what stands behind a comma or the like, at more length.
      else t.ok(plain(item).includes(plain(spec.about.split(/[,:;(]/)[0] as string).trim()), `--${option}: "${spec.about}" is not in: ${plain(item)}`)
    }
  })

  t.test(`${name}: nothing that a library prints lands on stdout`, async (t) => {
    const directory = t.testdir({
      'noisy.cjs': `console.log('banner'); process.stdout.write('more'); setTimeout(() => console.log('later'), 20).unref(); process.on('exit', () => console.log('bye'))`,
    })
    const quiet = await run(name, ...usual(name, join(directory, 'state')))
    for (const env of [
      { NODE_OPTIONS: `--require ${directory}/noisy.cjs` },
      { NODE_DEBUG: 'net,stream' },
      { NODE_OPTIONS: `--require ${directory}/noisy.cjs`, NODE_DEBUG: 'net' },
    ]) {
      const [args, options] = usual(name, join(directory, `state-${Object.keys(env).join('-')}`))
      const noisy = await run(name, args, { ...options, env: { ...options.env, ...env } })
      t.equal(noisy.status, quiet.status)
      t.ok(noisy.stdout.equals(quiet.stdout), `${JSON.stringify(env)}: ${noisy.stdout.subarray(0, 200)}`)
      if (env.NODE_OPTIONS) t.match(noisy.stderr, 'banner', 'it was there to be heard')
    }
    t.ok(quiet.stdout.length > 0)
  })
}

/** What examples need that no directory has: a model, and something to look at. */
const ASKED_FOR: Readonly<Record<string, Record<string, string>>> = {
  agentpipe: { AGENTPIPE_AGENT_LOOP_PROVIDER: 'replay', AGENTPIPE_AGENT_LOOP_FROM: fixture('seed-writer', 'deltas.resp') },
}

/** The options of an executable and all its verbs, from their tables: its main.ts with a runStage that only notes what it is given. */
async function specOf(t: Test, name: string): Promise<{ main: OptionTable; options: OptionTable }> {
  const noting = {
    name: 'noting',
    setup({ onResolve, onLoad }: PluginBuild) {
      onResolve({ filter: /^@agentpipe\/stage$/ }, ({ importer }) => (importer.endsWith('main.ts') ? { path: 'stage', namespace: 'noting' } : undefined))
      const contents = "export * from '@agentpipe/stage'; export const runStage = (spec) => { globalThis.notedSpec = spec }"
      onLoad({ filter: /.*/, namespace: 'noting' }, () => ({ contents, resolveDir: root }))
    },
  }
  const outfile = join(t.testdir(), 'main.mjs')
  const entryPoints = [join(root, 'packages', name, 'src', 'main.ts')]
  await build({ entryPoints, outfile, bundle: true, packages: 'external', platform: 'node', format: 'esm', plugins: [noting] })
  await import(outfile)
  const { notedSpec: spec } = globalThis as unknown as { notedSpec: StageSpec }
  return { main: spec.main?.options ?? {}, options: Object.assign({}, ...[spec.main, ...Object.values(spec.verbs ?? {})].map((command) => command?.options)) }
}

/** Text as a reader has it: without markup, line ends and capitals. */
function plain(text: string): string {
  return text.replaceAll(/[`*]/g, '').replaceAll(/\s+/g, ' ').toLowerCase()
}

/** Something that each of them does, and that comes out the same each time. */
function usual(name: string, state: string): [args: string[], options: { input: Buffer; env: Record<string, string> }] {
  const capture = fixture('seed-writer', 'deltas.resp')
  const args: Readonly<Record<string, string[]>> = {
    resp: ['json'],
    'agent-loop': ['--provider', 'replay', '--from', capture, '--session', 's'],
    agentpipe: ['--print-script', 'hello'],
    'event-store': ['--session', 's'],
    // Without a terminal it prints nothing else.
    'user-prompt': ['--help'],
  }
  const input = name === 'agent-loop' ? frames(['USER_INPUT', 'hi']) : readFileSync(capture)
  return [args[name] ?? [], { input, env: { XDG_STATE_HOME: state } }]
}

function section(page: string, heading: string): string {
  return page.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? ''
}
