// node scripts/man.mjs
// Makes the man pages: packages/*/NAME.[157].md to dist/share/man/manN/NAME.N, as roff. messages(7) gets its lists from the table of messages.
import { execFile } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const require = createRequire(import.meta.url)
const markedMan = join(dirname(require.resolve('marked-man/package.json')), 'bin', 'marked-man.js')
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildManPages()

export async function buildManPages() {
  await Promise.all(sources().map(buildPage))
}

/** Each page's markdown: { path, name, section }. */
function sources() {
  return readdirSync(join(root, 'packages')).flatMap((directory) =>
    readdirSync(join(root, 'packages', directory)).flatMap((file) => {
      const [, name, section] = /^(.+)\.([157])\.md$/.exec(file) ?? []
      return name === undefined ? [] : [{ path: join(root, 'packages', directory, file), name, section }]
    }),
  )
}

async function buildPage({ path, name, section }) {
  const markdown = readFileSync(path, 'utf8')
  const whole = name === 'messages' ? await withMessages(markdown) : markdown
  const directory = join(root, 'dist', 'share', 'man', `man${section}`)
  mkdirSync(directory, { recursive: true })
  const outfile = join(directory, `${name}.${section}`)
  writeFileSync(`${outfile}.new`, tidy(await toRoff(whole)))
  renameSync(`${outfile}.new`, outfile)
}

function toRoff(markdown) {
  const options = ['--version', `agentpipe ${version}`, '--manual', 'agentpipe']
  return new Promise((resolve, reject) => {
    const child = execFile(process.execPath, [markedMan, '--no-breaks', ...options], { maxBuffer: 1 << 26 }, (error, stdout) =>
      error ? reject(error) : resolve(stdout),
    )
    child.stdin.end(markdown)
  })
}

/** What marked-man writes, as man and mandoc like it: no empty paragraphs, a date that is one, and commands that can be copied from a terminal. */
function tidy(roff) {
  const day = new Date(process.env.SOURCE_DATE_EPOCH ? Number(process.env.SOURCE_DATE_EPOCH) * 1000 : Date.now()).toISOString().slice(0, 10)
  return plain(roff)
    .replace(/^(\.TH "[^"]*" "[^"]*") "[^"]*"/, `$1 "${day}"`)
    .replace(/^(\.S[HS] .*\n)\.P\n/gm, '$1')
    .replace(/\n\n(?=\.R[SE])/g, '\n')
    .replaceAll('\\\\', '\\e')
    .replace(/^\.nf\n.*?^\.fi$/gms, (code) => code.replaceAll("'", '\\(aq'))
}

/** marked writes what stands in backquotes as HTML, and marked-man leaves it so. */
function plain(roff) {
  return roff.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&#39;', '\\(aq').replaceAll('&amp;', '&')
}

/** Bundled and run from memory: building needs no compiler of types. */
async function withMessages(markdown) {
  const entry = join(root, 'packages', 'message', 'src', 'manual.ts')
  const { outputFiles } = await build({ entryPoints: [entry], bundle: true, write: false, platform: 'node', format: 'esm', conditions: ['source'] })
  const { messagesManual } = await import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].text).toString('base64')}`)
  return messagesManual(markdown)
}
