// node scripts/house-rules.mjs
// The rules of this house that a machine can check, over the files that git tracks. Prints a line for each breach; status 1 if there is any.
import { execFileSync } from 'node:child_process'
import { existsSync, lstatSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

process.chdir(join(dirname(fileURLToPath(import.meta.url)), '..'))

/** What a package may import: one way only. Whatever is not named is a tool, and tools never import each other. */
const BELOW = { frame: [], message: ['frame'], stage: ['frame', 'message'], testing: ['frame'] }
const TOOL_BELOW = ['frame', 'message', 'stage']
const LONGEST_FILE = 250
/** Data, not code: it stands in one piece. */
const TABLES = ['packages/message/src/table.ts']

/** Where something stands that must not: in which files, and why. */
const FORBIDDEN = [
  { in: /^packages\/[^/]+\/src\/.*\.ts$/, what: /process\.stdout|\bconsole\./, why: 'write through Output: descriptor 1 carries frames' },
  { in: /^(packages|scripts)\/.*\.(ts|mjs|sh|bash|py)$/, what: /\b(TODO|FIXME)\b/, why: 'do it, or report it' },
  { in: /./, what: /(^|[^\w.~}])\/(work|root|Users|home\/(?!ada\/))[/\w]/, why: 'a path of somebody’s machine' },
  { in: /./, what: /\bregistry\.(npm|yarn)|npm\.pkg\.github/, why: 'the host name of a registry' },
  { in: /^package-lock\.json$/, what: /"resolved": "[a-z+]+:/, why: 'a registry URL: install with omit-lockfile-registry-resolved' },
]

const GENERATED = /(^|\/)(node_modules|dist|build|\.tap)\/|\.tsbuildinfo$|(^|\/)\.(build|all)-packages$/
const SELF = 'scripts/house-rules.mjs'

const breaches = []
const breach = (where, why) => breaches.push(`${where}: ${why}`)

const files = execFileSync('git', ['ls-files', '-z'], { encoding: 'utf8' })
  .split('\0')
  .filter((file) => file !== '' && existsSync(file) && lstatSync(file).isFile())
for (const file of files) {
  if (GENERATED.test(file)) breach(file, 'generated: git must not track it')
  const lines = readFileSync(file, 'utf8').split('\n')
  checkText(file, lines)
  if (/^packages\/[^/]+\/src\/.*\.ts$/.test(file)) checkSource(file, lines)
}
checkExecutables()
if (breaches.length > 0) {
  process.stderr.write(`${breaches.join('\n')}\n`)
  process.exitCode = 1
}

function checkText(file, lines) {
  if (file === SELF) return
  const rules = FORBIDDEN.filter((rule) => rule.in.test(file))
  lines.forEach((line, index) => {
    for (const { what, why } of rules) if (what.test(line)) breach(`${file}:${index + 1}`, why)
  })
}

function checkSource(file, lines) {
  if (lines.length - 1 > LONGEST_FILE && !TABLES.includes(file)) breach(file, `${lines.length - 1} lines, at most ${LONGEST_FILE}: split it by noun`)
  const name = file.split('/')[1]
  const allowed = BELOW[name] ?? TOOL_BELOW
  lines.forEach((line, index) => {
    const [, target] = /(?:from|import)\s*\(?\s*'([^']+)'/.exec(line) ?? []
    if (target === undefined) return
    const [, other] = /^@agentpipe\/([^/]+)/.exec(target) ?? []
    if (other !== undefined && !allowed.includes(other)) breach(`${file}:${index + 1}`, `${name} must not import ${other}`)
    const inside = resolve('packages', name)
    if (target.startsWith('.') && !resolve(dirname(file), target).startsWith(`${inside}/`)) breach(`${file}:${index + 1}`, 'imports a file of another package')
  })
}

/** Directory = package = executable = man page. */
function checkExecutables() {
  const names = files.flatMap((file) => /^packages\/([^/]+)\/src\/main\.ts$/.exec(file)?.[1] ?? [])
  for (const name of names) {
    for (const file of [`packages/${name}/${name}.1.md`, `packages/${name}/README.md`]) if (!files.includes(file)) breach(file, 'is missing')
  }
  const { bin } = JSON.parse(readFileSync('package.json', 'utf8'))
  const expected = Object.fromEntries(names.map((name) => [name, `dist/lib/agentpipe/${name}`]))
  if (JSON.stringify(Object.entries(bin).sort()) !== JSON.stringify(Object.entries(expected).sort())) {
    breach('package.json', `bin must name ${names.join(', ')}, each as dist/lib/agentpipe/NAME`)
  }
}
