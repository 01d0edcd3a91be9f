import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fixture, frames, root, run, shell } from '@agentpipe/testing'
import { build, type PluginBuild } from 'esbuild'
import t from 'tap'
import { optionForm, stageHelp, verbHelp } from '../src/help.js'
import type { OptionTable, StageSpec } from '../src/index.js'

/** Every executable, by the rule that a package with a main.ts is one. */
const EXECUTABLES = readdirSync(join(root, 'packages')).filter((name) => existsSync(join(root, 'packages', name, 'src', 'main.ts')))

const scratch = t.testdir({ 'model.resp': frames(['TEXT', 'hello']) })

/** Of each executable, from its option tables. */
const specs = await specsOf(EXECUTABLES)

/** What `--help` prints, page for page: the executable's own and those of its verbs. That it is printed so is tested on its own. */
function pagesOf(spec: StageSpec): Map<string, string[]> {
  const pages = new Map([['', stageHelp(spec, 80)]])
  for (const [verb, command] of Object.entries(spec.verbs ?? {})) pages.set(verb, verbHelp(spec, verb, command, 80))
  return new Map([...pages].map(([verb, page]) => [verb, page.trimEnd().split('\n')]))
}

const usageLines = (lines: readonly string[]) => lines.filter((line) => /^(usage:| {3}or:) /.test(line)).map((line) => line.slice(7))
const optionsOf = ({ main, verbs }: StageSpec): OptionTable => Object.assign({}, ...[main, ...Object.values(verbs ?? {})].map((command) => command?.options))

/** What examples need that no directory has: a model. */
const ASKED_FOR: Readonly<Record<string, Record<string, string>>> = { agentpipe: { AGENTPIPE_AGENTPIPE_FROM: join(scratch, 'model.resp') } }

const noJq = (await run('sh', ['-c', 'command -v jq'])).status !== 0

for (const [name, spec] of specs) {
  const pages = pagesOf(spec)
  const main = pages.get('') as string[]

  t.test(`${name}: --help is one screen and ends in two examples`, (t) => {
    for (const [verb, page] of pages) {
      t.ok(page.length <= 24, `${name} ${verb}: ${page.length} lines`)
      for (const line of page.slice(0, -2).filter((line) => line.length > 80)) t.fail(`longer than 80 columns: ${line}`)
      t.match(page[0], `usage: ${name}${verb === '' ? '' : ` ${verb}`}`)
      t.equal(page.at(-3), '', `${name} ${verb}: two examples`)
      for (const example of page.slice(-2)) t.match(example, name)
    }
    t.end()
  })

  t.test(`${name}: what its file prints, of any width`, async (t) => {
    const verb = Object.keys(spec.verbs ?? {}).at(-1)
    const [page, narrow, ofVerb, version, wrong] = await Promise.all([
      run(name, ['--help']),
      run(name, ['-h'], { env: { COLUMNS: '40' } }),
      verb === undefined ? undefined : run(name, [verb, '--help']),
      run(name, ['--version']),
      run(name, ['--nosuch']),
    ])
    t.match(page, { status: 0, stderr: '' })
    t.equal(page.stdout.toString(), `${main.join('\n')}\n`)
    t.equal(narrow.stdout.toString(), stageHelp(spec, 40))
    if (verb !== undefined) t.equal(ofVerb?.stdout.toString(), `${pages.get(verb)?.join('\n')}\n`)
    t.match(version, { status: 0, stderr: '' })
    t.match(version.stdout.toString(), new RegExp(`^${name} \\(agentpipe\\) \\d+\\.\\d+\\.\\d+\\n$`))
    t.match(wrong, { status: 64, stdout: Buffer.alloc(0), stderr: new RegExp(`^${name}: [^\\n]+\\n$`) })
  })

  t.test(`${name}: --help fits any width, and says what only the man page has`, (t) => {
    const rare = Object.values(spec.main?.options ?? {}).filter(({ rare }) => rare).length
    const more = rare === 0 ? [] : [`  man ${name} has ${rare} more option${rare === 1 ? '' : 's'}`]
    t.same(
      main.filter((line) => line.includes(' more option')),
      more,
    )
    const narrow = stageHelp(spec, 40).trimEnd().split('\n')
    for (const line of narrow.slice(0, -2)) t.ok(line.length <= 40, line)
    t.same(narrow.slice(-2), main.slice(-2), 'an example can be copied')
    t.end()
  })

  t.test(`${name}: the man page has the usage and all the options, and no others`, (t) => {
    const page = manual(name)
    const synopsis = section(page, 'SYNOPSIS')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => line.replaceAll(/[`*]/g, ''))
    const short = usageLines(main)
    const full = [...short.filter((line) => !line.includes(' VERB')), ...[...pages.values()].slice(1).flatMap(usageLines)]
    t.ok(
      [short, full].some((form) => form.join('\n') === synopsis.join('\n')),
      `SYNOPSIS is ${synopsis.join(' / ')}, --help has ${full.join(' / ')}`,
    )

    const options = optionsOf(spec)
    const documented = new Set([...section(page, 'OPTIONS').matchAll(/`(?:-\w`, `)?--([a-z-]+)[^`]*`(?=[,:`])/g)].map(([, option]) => option as string))
    for (const option of Object.keys(options)) t.ok(documented.has(option), `--${option} stands in the man page`)
    for (const option of documented) {
      if (option === 'help' || option === 'version') continue
      t.ok(Object.hasOwn(options, option), `there is a --${option}`)
    }
    t.end()
  })

  t.test(`${name}: the man page has the text of every option, rare ones too`, (t) => {
    const page = section(manual(name), 'OPTIONS')
    for (const [option, described] of Object.entries(optionsOf(spec))) {
      const form = optionForm(option, described).replace(/^-\w, /, '')
      const item = page.split(/\n {2}\* /).find((item) => item.split('\n')[0]?.includes(`\`${form}\``))
      if (item === undefined) t.fail(`\`${form}\` is not in the man page`)
      // The page may say the rest, what stands behind a comma or the like, at more length.
      else t.ok(plain(item).includes(plain(described.about.split(/[,:;(]/)[0] as string).trim()), `--${option}: "${described.about}" is not in: ${plain(item)}`)
    }
    t.end()
  })

  t.test(`${name}: the examples of --help run in any directory, as they stand and in their order`, async (t) => {
    const directory = t.testdir()
    const env = { ...ASKED_FOR[name], XDG_STATE_HOME: join(directory, 'state'), HOME: directory }
    for (const example of new Set([...pages.values()].flatMap((page) => page.slice(-2)))) {
      if (example.includes('| jq') && noJq) continue
      // What is said to be bad is told.
      const stderr = name !== 'resp' ? /^/ : example.includes('|| echo') ? /^(resp: [^\n]*\n)?$/ : ''
      t.match(await shell(`set -o pipefail; ${example}`, [], { cwd: directory, env }), { status: 0, stderr }, example)
    }
  })

  t.test(`${name}: nothing that a library prints lands on stdout`, async (t) => {
    const directory = t.testdir({
      'noisy.cjs': `console.log('banner'); process.stdout.write('more'); setTimeout(() => console.log('later'), 20).unref(); process.on('exit', () => console.log('bye'))`,
    })
    const [args, options] = usual(name, join(directory, 'state'))
    const [, others] = usual(name, join(directory, 'others'))
    const env = { ...others.env, NODE_OPTIONS: `--require ${directory}/noisy.cjs`, NODE_DEBUG: 'net,stream' }
    const [quiet, noisy] = await Promise.all([run(name, args, options), run(name, args, { ...others, env })])
    t.equal(noisy.status, quiet.status)
    t.ok(noisy.stdout.equals(quiet.stdout), noisy.stdout.subarray(0, 200).toString())
    for (const said of ['banner', 'bye']) t.match(noisy.stderr, said, 'it was there to be heard')
    t.ok(quiet.stdout.length > 0)
  })
}

/** Of executables, from their main.ts, with a runStage that only notes what it is given. */
async function specsOf(names: readonly string[]): Promise<Map<string, StageSpec>> {
  const noting = {
    name: 'noting',
    setup({ onResolve, onLoad }: PluginBuild) {
      onResolve({ filter: /^@agentpipe\/stage$/ }, ({ importer }) => (importer.endsWith('main.ts') ? { path: 'stage', namespace: 'noting' } : undefined))
      const contents = "export * from '@agentpipe/stage'; export const runStage = (spec) => { globalThis.notedSpec = spec }"
      onLoad({ filter: /.*/, namespace: 'noting' }, () => ({ contents, resolveDir: root }))
    },
  }
  const outdir = join(scratch, 'specs')
  const entryPoints = names.map((name) => ({ in: join(root, 'packages', name, 'src', 'main.ts'), out: name }))
  await build({ entryPoints, outdir, outExtension: { '.js': '.mjs' }, bundle: true, packages: 'external', platform: 'node', format: 'esm', plugins: [noting] })
  const specs = new Map<string, StageSpec>()
  for (const name of names) {
    await import(join(outdir, `${name}.mjs`))
    specs.set(name, (globalThis as unknown as { notedSpec: StageSpec }).notedSpec)
  }
  return specs
}

function manual(name: string): string {
  return readFileSync(join(root, 'packages', name, `${name}.1.md`), 'utf8')
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
