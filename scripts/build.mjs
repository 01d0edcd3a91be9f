// node scripts/build.mjs [EXECUTABLE...]
// Makes dist/, or some executables in it: each executable as one bundled file that is both a shell script and a CommonJS program, and ripgrep's binary.
import { chmodSync, copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { builtinModules, createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { buildCompletions } from './completions.mjs'
import { dropKeys } from './keyless.mjs'
import { buildManPages } from './man.mjs'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const dist = join(root, 'dist')
const lib = join(dist, 'lib', 'agentpipe')
const bin = join(dist, 'bin')
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

/** The stages that talk to servers over TLS: they alone need NODE_EXTRA_CA_CERTS, which costs every Node process 60 ms at its start. */
const NETWORK = new Set(['agent-loop'])

/** Ctrl-C ends it like any program until it has stages to end. */
const NO_STAGE = new Set(['agentpipe'])

/**
 * What passes through a stage is garbage soon after. V8 would let 48 MB of it come together before it looks: with a space of 4 MB for new objects a recorder
 * is as fast, and takes 75 MB in place of 95.
 */
const NODE_OPTIONS = new Map([['event-store', '--max-semi-space-size=4 ']])

/** tool-runner holds no keys: not even in its own environment, which the commands that it runs can read in /proc. */
const KEYLESS = new Set(['tool-runner'])

const executables = readdirSync(join(root, 'packages')).filter((name) => existsSync(join(root, 'packages', name, 'src', 'main.ts')))

/** Modules that Node has loaded before it runs us: nothing to gain. */
const LOADED_BY_NODE = new Set(['fs', 'path', 'url', 'util', 'os', 'events', 'buffer', 'process', 'timers'])

/**
 * Node's own modules are loaded on first use: node:net alone costs 3 ms, and `resp write` needs none of it. Each import is
 * an object of getters, one for each name that the module exports.
 */
const lazyBuiltins = {
  name: 'lazy-builtins',
  setup({ onResolve, onLoad }) {
    const require = createRequire(import.meta.url)
    onResolve({ filter: /^(node:)?[a-z0-9_/]+$/ }, ({ path, namespace }) => {
      const name = path.replace(/^node:/, '')
      if (!builtinModules.includes(name) || LOADED_BY_NODE.has(name)) return undefined
      return namespace === 'lazy' ? { path, external: true } : { path: name, namespace: 'lazy' }
    })
    onLoad({ filter: /.*/, namespace: 'lazy' }, ({ path }) => {
      const loaded = require(path)
      if (typeof loaded === 'function') return { contents: `module.exports = require(${JSON.stringify(`node:${path}`)})` }
      const getters = Object.keys(loaded).map(
        (name) => `get ${JSON.stringify(name)}() { return require(${JSON.stringify(`node:${path}`)})[${JSON.stringify(name)}] }`,
      )
      return { contents: `module.exports = {${getters.join(',\n')}}` }
    })
  },
}

/**
 * A package that is imported by `await import('name')`, or, where `const require = createRequire(import.meta.url)` stands, by `require('name')`, and a
 * NAME-library.ts of ours that exports what is needed of one, becomes a file of its own, packages/NAME.cjs, that is read when it is first used: the SDKs of
 * model makers are ten times as long as all that is ours, and even unused code has to be read by V8 at every start.
 */
const packagesOnDemand = {
  name: 'packages-on-demand',
  setup({ onLoad, onResolve, resolve }) {
    // Without the line esbuild knows `require`, and leaves it to CommonJS.
    onLoad({ filter: /packages\/[^/]+\/src\/.*\.ts$/ }, ({ path }) => {
      const source = readFileSync(path, 'utf8')
      return source.includes(OWN_REQUIRE) ? { contents: source.replace(OWN_REQUIRE, ''), loader: 'ts' } : undefined
    })
    onResolve({ filter: /^[^.]|-library\.js$/ }, async ({ kind, path, importer, resolveDir, pluginData }) => {
      const onDemand = kind === 'dynamic-import' || (kind === 'require-call' && /packages\/[^/]+\/src\//.test(importer))
      if (!onDemand || path.startsWith('node:') || pluginData === 'inner') return undefined
      const resolved = await resolve(path, { kind, resolveDir, pluginData: 'inner' })
      if (resolved.errors.length > 0) return resolved
      // What require() gets of a package is not what import() gets: each has a file of its own.
      return { path: `./packages/${await packageFile(kind === 'require-call' ? `${path}-required` : path, resolved.path)}`, external: true }
    })
  },
}

const OWN_REQUIRE = 'const require = createRequire(import.meta.url)'

const made = new Map()

const IMPORT_META_URL = "const __importMetaUrl='file://'+__filename;"

/** Bundles a package once, whoever imports it, and gives the name of its file. */
function packageFile(name, entry) {
  const file = `${name
    .replace(/^(@|\.\/)/, '')
    .replace(/\.js$/, '')
    .replaceAll('/', '-')}.cjs`
  if (!made.has(file))
    made.set(
      file,
      bundleFile(entry, join(lib, 'packages'), file, { plugins: [lazyBuiltins] }).then(() => file),
    )
  return made.get(file)
}

mkdirSync(lib, { recursive: true })
mkdirSync(bin, { recursive: true })
writeFileSync(join(lib, 'package.json'), '{"type":"commonjs"}\n')
const wanted = process.argv.slice(2)
await Promise.all(executables.filter((name) => wanted.length === 0 || wanted.includes(name)).map(bundle))
await Promise.all(workers().map(({ entry, file }) => bundleFile(entry, join(lib, 'packages'), file, { plugins: [lazyBuiltins] })))
if (wanted.length === 0) {
  copyRipgrep()
  copyScripts()
  await Promise.all([buildManPages(), buildCompletions()])
}

/** A NAME-worker.ts is what a thread runs: packages/NAME-worker.cjs. */
function workers() {
  const sources = executables.map((name) => join(root, 'packages', name, 'src'))
  const entries = sources.flatMap((source) => readdirSync(source).map((name) => join(source, name)))
  return entries.filter((entry) => entry.endsWith('-worker.ts')).map((entry) => ({ entry, file: basename(entry).replace(/\.ts$/, '.cjs') }))
}

async function bundle(name) {
  await bundleFile(join(root, 'packages', name, 'src', 'main.ts'), lib, name, {
    banner: { js: header(name) },
    plugins: [lazyBuiltins, packagesOnDemand],
    // import() of a CommonJS file has Node read it all for the names of its exports, before V8 does: require() reads it once.
    supported: { 'dynamic-import': false },
  })
  chmodSync(join(lib, name), 0o755)
  rmSync(join(bin, `.${name}.new`), { force: true })
  symlinkSync(join('..', 'lib', 'agentpipe', name), join(bin, `.${name}.new`))
  renameSync(join(bin, `.${name}.new`), join(bin, name))
}

/** Renamed when it is whole: a pipeline that starts meanwhile gets the old file or the new one. */
async function bundleFile(entry, directory, file, options) {
  const outfile = join(directory, `.${file}.new`)
  await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    conditions: ['source'],
    // Its ES module makes a `require` of its own at start-up, its CommonJS build does not.
    alias: { 'yargs-parser': createRequire(join(root, 'packages', 'stage', 'package.json')).resolve('yargs-parser') },
    minify: true,
    legalComments: 'none',
    define: { AGENTPIPE_VERSION: JSON.stringify(version), 'import.meta.url': '__importMetaUrl' },
    banner: { js: IMPORT_META_URL },
    logLevel: 'warning',
    ...options,
  })
  renameSync(outfile, join(directory, file))
}

/**
 * The first lines of every executable. For sh: start Node on this very file, its descriptor 1 being stderr and the real
 * stdout descriptor 9, so that no library, and no module preloaded by NODE_OPTIONS, can print among the frames. For Node:
 * SIGINT is caught before anything else is loaded, what stands on process.stdout goes to stderr, and process.stdin is empty: a library that
 * looks at it (execa does) would open descriptor 0 a second time, which fails where that is a socket that we read.
 */
function header(name) {
  const certificates = NETWORK.has(name)
    ? ''
    : 'if [ "${NODE_EXTRA_CA_CERTS-}" ]; then export AGENTPIPE_CA_CERTS="$NODE_EXTRA_CA_CERTS"; unset NODE_EXTRA_CA_CERTS; fi; '
  const keys = KEYLESS.has(name) ? dropKeys : ''
  return [
    '#!/bin/sh',
    `':' //; if [ "$#" = 1 ] && [ "$1" = --version ]; then echo "${name} (agentpipe) ${version}"; exit; fi; true 8>&2 || exec 2>/dev/null; { true 9>&1; } 2>/dev/null || { echo "${name}: standard output is closed" >&2; exit 74; }; ${keys}${certificates}AGENTPIPE_OUTPUT_FD=9 exec node ${NODE_OPTIONS.get(name) ?? ''}"$0" "$@" 9>&1 1>&2`,
    NO_STAGE.has(name) ? ';' : ";process.on('SIGINT',()=>{});",
    "Object.defineProperty(process,'stdout',{configurable:true,get:()=>process.stderr});",
    "{let stdin;Object.defineProperty(process,'stdin',{configurable:true,get:()=>stdin??=require('stream').Readable.from([])})}",
    'if(process.env.AGENTPIPE_CA_CERTS){process.env.NODE_EXTRA_CA_CERTS=process.env.AGENTPIPE_CA_CERTS;delete process.env.AGENTPIPE_CA_CERTS}',
    IMPORT_META_URL,
  ].join('\n')
}

/** Where the machine has no `rg` of its own, Glob and Grep use the one of the npm package. */
function copyRipgrep() {
  const require = createRequire(join(root, 'packages', 'tool-runner', 'package.json'))
  const { rgPath } = require('@vscode/ripgrep')
  rmSync(join(lib, 'rg'), { force: true })
  copyFileSync(rgPath, join(lib, 'rg'))
  chmodSync(join(lib, 'rg'), 0o755)
}

/** Functions for frames in bash, and the example stages: for who installs agentpipe and keeps no clone. */
function copyScripts() {
  for (const name of ['lib', 'examples']) {
    rmSync(join(dist, 'share', 'agentpipe', name), { recursive: true, force: true })
    cpSync(join(root, 'scripts', name), join(dist, 'share', 'agentpipe', name), { recursive: true, filter: (path) => !path.includes('__pycache__') })
  }
}
