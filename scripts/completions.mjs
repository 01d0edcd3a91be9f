// node scripts/completions.mjs
// Makes what completes words in bash, zsh and fish, in dist/share: a file for each shell, with a name for each executable. It comes from the option tables, not
// from yargs: what yargs prints starts the program anew at each Tab, knows no fish, and completes no files, sessions or values of a text.
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { bash } from './completions/bash.mjs'
import { fish } from './completions/fish.mjs'
import { zsh } from './completions/zsh.mjs'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')

export async function buildCompletions() {
  const executables = await tables()
  const names = executables.map(({ name }) => name)
  const others = names.filter((name) => name !== 'agentpipe')
  write('bash-completion/completions', 'agentpipe', bash(executables), others)
  // Zsh reads in the file itself what it is for.
  write('zsh/site-functions', '_agentpipe', zsh(executables), [])
  write(
    'fish/vendor_completions.d',
    'agentpipe.fish',
    fish(executables),
    others.map((name) => `${name}.fish`),
  )
}

function write(directory, file, text, links) {
  const path = join(root, 'dist', 'share', directory)
  mkdirSync(path, { recursive: true })
  writeFileSync(join(path, `${file}.new`), text)
  renameSync(join(path, `${file}.new`), join(path, file))
  for (const link of links) {
    rmSync(join(path, link), { force: true })
    symlinkSync(file, join(path, link))
  }
}

/**
 * Each executable: { name, verbs, forms }. A form is what it does without a verb, or one verb: { verb, about, options, operands, repeats }. An option is
 * { name, about, value, kinds, list }; kinds, undefined for one without value, are 'file', 'directory', 'session', 'command' and words that stand for themselves,
 * and so is each operand a list of kinds; the last one repeats where `repeats`.
 */
async function tables() {
  const { specs, types } = await load()
  return specs.map(({ name, main, verbs = {} }) => {
    const forms = [[undefined, main ?? { options: {} }], ...Object.entries(verbs)].map(([verb, { purpose, options, operands = '' }]) => ({
      verb,
      about: purpose ?? '',
      options: [...Object.entries(options).map(([option, spec]) => optionOf(option, spec)), HELP],
      operands: words(operands).map((word) => kindsOf({ value: word.replace('...', '') }, types)),
      // A prompt may be several words, each of which may name a file.
      repeats: /\.\.\.|PROMPT/.test(operands),
    }))
    return { name, verbs: Object.keys(verbs), forms }
  })
}

const HELP = { name: 'help', about: 'print help', list: false }

function optionOf(name, spec) {
  const { type, about, value, optionalValue } = spec
  return { name, about, value, list: type === 'list', optional: optionalValue === true, kinds: type === 'flag' || optionalValue ? undefined : kindsOf(spec) }
}

/** `PATTERN [ID]` as its words; what stands behind -- is one like others. */
function words(operands) {
  return operands.split(/[\s[\]]+/).filter((word) => word !== '' && word !== '--')
}

function kindsOf({ value, choices, offered = [] }, types = []) {
  if (choices !== undefined) return choices
  const kinds = {
    FILE: ['file'],
    DIR: ['directory'],
    ID: ['session'],
    SESSION: ['session'],
    THEME: ['file'],
    COMMAND: ['command'],
    PROMPT: ['file'],
    TYPE: types,
    SHELL: ['bash', 'zsh', 'fish'],
  }
  return [...offered, ...(kinds[value] ?? [])]
}

/** The specs of all executables, from the sources: their main.ts with a runStage that only notes what it is given. */
async function load() {
  const noting = {
    name: 'noting',
    setup({ onLoad, onResolve }) {
      onLoad({ filter: /packages\/stage\/src\/run-stage\.ts$/ }, () => ({ contents: 'export const runStage = (spec) => void specs.push(spec)' }))
      onResolve({ filter: /^[^.]/ }, ({ kind, path }) => (kind === 'dynamic-import' ? { path, external: true } : undefined))
    },
  }
  const mains = readdirSync(join(root, 'packages'))
    .map((name) => `./packages/${name}/src/main.ts`)
    .filter((main) => existsSync(join(root, main)))
  const { outputFiles } = await build({
    stdin: {
      contents: [...mains.map((main) => `import '${main}'`), "export { MESSAGES } from './packages/message/src/table.ts'"].join('\n'),
      resolveDir: root,
    },
    bundle: true,
    write: false,
    platform: 'node',
    format: 'cjs',
    conditions: ['source'],
    define: { AGENTPIPE_VERSION: '""', 'import.meta.url': JSON.stringify(pathToFileURL(join(root, 'package.json')).href) },
    plugins: [noting],
    logLevel: 'error',
  })
  const specs = []
  const module = { exports: {} }
  new Function('require', 'module', 'specs', outputFiles[0].text)(createRequire(import.meta.url), module, specs)
  return { specs, types: Object.keys(module.exports.MESSAGES) }
}

// Below the constants that it needs.
if (process.argv[1] === fileURLToPath(import.meta.url)) await buildCompletions()
