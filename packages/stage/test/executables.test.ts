import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fixture, frames, root, run } from '@agentpipe/testing'
import t from 'tap'

/** Every executable, by the rule that a package with a main.ts is one. */
const EXECUTABLES = readdirSync(join(root, 'packages')).filter((name) => existsSync(join(root, 'packages', name, 'src', 'main.ts')))

const help = async (name: string, ...verb: string[]) => (await run(name, [...verb, '--help'])).stdout.toString().trimEnd().split('\n')

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

    const documented = new Set([...section(page, 'OPTIONS').matchAll(/`(?:-\w`, `)?--([a-z-]+)[^`]*`(?=[,:`])/g)].map(([, option]) => option as string))
    for (const option of new Set(pages.flatMap(optionsOf))) t.ok(documented.has(option), `--${option} stands in the man page`)
    for (const option of documented) {
      if (option === 'help' || option === 'version') continue
      t.ok(await knows(name, verbs, option), `there is a --${option}`)
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

/** Whether an executable, or a verb of it, takes an option. Options are refused in the order in which they stand: where this one is known, it is the other that is not. */
async function knows(name: string, verbs: readonly string[], option: string): Promise<boolean> {
  for (const verb of [[], ...verbs.map((verb) => [verb])]) {
    const { status, stderr } = await run(name, [...verb, `--${option}=1`, '--nosuch'])
    if (status === 64 && !stderr.includes(`no option --${option};`) && !stderr.includes('verb')) return true
  }
  return false
}

/** Something that each of them does, and that comes out the same each time. */
function usual(name: string, state: string): [args: string[], options: { input: Buffer; env: Record<string, string> }] {
  const capture = fixture('seed-writer', 'deltas.resp')
  const args: Readonly<Record<string, string[]>> = {
    resp: ['json'],
    'agent-loop': ['--provider', 'replay', '--from', capture, '--session', 's'],
    agentpipe: ['--print-script', 'hello'],
    'event-store': ['--session', 's'],
  }
  const input = name === 'agent-loop' ? frames(['USER_INPUT', 'hi']) : readFileSync(capture)
  return [args[name] ?? [], { input, env: { XDG_STATE_HOME: state } }]
}

function section(page: string, heading: string): string {
  return page.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? ''
}
