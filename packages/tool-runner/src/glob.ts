const SPECIAL = /[*?[\]{}!\\]/

/** Files by their names, as ripgrep is asked for them. */
export interface FileSelection {
  /** The directory to search, from the one that the glob is relative to; `.` for that one itself. */
  readonly directory: string
  readonly args: readonly string[]
}

// The files that `glob` means: `*.ts` at any depth, `src/*.ts` in one directory, `src/**/*.ts` below it, `!*.test.ts` all others.
//
// ripgrep's --glob would also bring in files that an ignore file leaves out. Its file types don't; they know file names only. So
// the directories in front of the name become the place to search, where that can be.
export function selectFiles(glob: string): FileSelection {
  if (glob.startsWith('!')) return { directory: '.', args: [`--glob=${glob}`] }
  const absolute = glob.startsWith('/')
  const parts = glob.split('/').filter((part) => part !== '' && part !== '.')
  const plain = parts.slice(0, -1).findIndex((part) => SPECIAL.test(part))
  const fixed = plain < 0 ? Math.max(0, parts.length - 1) : plain
  const directory = (absolute ? '/' : '') + parts.slice(0, fixed).join('/') || '.'
  return { directory, args: selectNames(parts.slice(fixed), fixed > 0 || absolute) }
}

function selectNames(parts: readonly string[], anchored: boolean): string[] {
  const [first, second = '*'] = parts
  if (parts.length === 0) return []
  if (parts.length === 1 && first === '**') return []
  if (parts.length === 1) return [...named(first as string), ...(anchored ? ['--max-depth=1'] : [])]
  if (parts.length === 2 && first === '**') return second === '**' ? [] : named(second)
  return [`--glob=${first === '**' ? '' : '/'}${parts.join('/')}`]
}

function named(name: string): string[] {
  return [`--type-add=wanted:${name}`, '--type=wanted']
}
