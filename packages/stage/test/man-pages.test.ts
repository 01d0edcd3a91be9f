import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root, run } from '@agentpipe/testing'
import t from 'tap'

const manual = join(root, 'dist', 'share', 'man')

/** Every page that has a source: NAME.SECTION.md in a package. */
const PAGES = readdirSync(join(root, 'packages')).flatMap((directory) =>
  readdirSync(join(root, 'packages', directory)).flatMap((file) => (/\.[157]\.md$/.test(file) ? [file.slice(0, -3)] : [])),
)

t.before(async () => {
  const built = await run('node', [join(root, 'scripts', 'man.mjs')])
  t.match(built, { status: 0, stderr: '' })
})

t.ok(PAGES.includes('frames.5') && PAGES.includes('messages.7') && PAGES.includes('resp.1'))

for (const page of PAGES) {
  t.test(`${page} is built, and man shows all of it`, async (t) => {
    const path = join(manual, `man${page.slice(-1)}`, page)
    t.ok(existsSync(path))
    t.notMatch(readFileSync(path, 'utf8'), /&(\w+|#\d+);/, 'no HTML')
    t.notMatch(readFileSync(path, 'utf8'), /^\.br$/m, 'lines are broken by man alone')
    if ((await run('sh', ['-c', 'command -v mandoc'])).status !== 0) return
    const lint = await run('mandoc', ['-T', 'lint', path])
    const complaints = lint.stdout
      .toString()
      .split('\n')
      .filter((line) => line !== '' && !line.includes('longer than 80 bytes'))
    t.same(complaints, [])
    const text = (await run('sh', ['-c', 'mandoc -T utf8 "$1" | col -b', 'sh', path])).stdout.toString()
    for (const heading of ['NAME', 'DESCRIPTION', 'SEE ALSO']) t.match(text, new RegExp(`^${heading}$`, 'm'))
  })
}
