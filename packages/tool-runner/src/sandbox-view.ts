import { existsSync, lstatSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { configPath } from '@agentpipe/stage'
import type { Mode } from './options.js'
import { isWithin } from './paths.js'
import { secretPaths } from './secrets.js'

/** What a confined command may see and change. */
export interface Confinement {
  readonly mode: Mode
  readonly network: boolean
  /** Real paths of directories that it may write in. */
  readonly writable: readonly string[]
  /** Real paths in there that it may not write. */
  readonly guarded: readonly string[]
  /** Variables that the user hands to commands though they look like keys. */
  readonly env: readonly string[]
}

/** One step of bubblewrap that makes the file system, and where. */
interface Step {
  readonly path: string
  readonly words: readonly string[]
}

/** Below /run there are sockets by which others act for us (D-Bus, Docker, Podman, agents of keys); of the rest only this is needed. */
const KEPT_IN_RUN = ['/run/current-system', '/run/booted-system', '/run/opengl-driver']
/** Where the kernel is told what to do, in /proc. */
const KERNEL_FILES = ['sys', 'sysrq-trigger', 'irq', 'bus', 'fs', 'acpi', 'scsi', 'driver', 'mtrr', 'asound', 'dynamic_debug', 'pressure'].map(
  (name) => `/proc/${name}`,
)
/** Sockets in other places: who reaches a terminal multiplexer, an X server or Docker acts outside. Directories from the home directory. */
const SOCKETS_IN_HOME = ['.docker/run', '.docker/desktop', '.colima', '.lima', '.orbstack/run', '.local/share/containers/podman/machine']
const SOCKETS_IN_TMP = /^(tmux-|dbus-|ssh-|vscode-|screen|\.X11-unix|\.ICE-unix)/

/**
 * The options of bubblewrap that make what a command sees: everything read-only but what it may write, secrets and sockets of others hidden, devices and
 * processes its own. A step for a directory comes before those for what is in it.
 */
export function viewOptions(confinement: Confinement): readonly string[] {
  if (confinement.mode === 'full') return ['--bind', '/', '/', '--dev-bind', '/dev', '/dev', '--proc', '/proc']
  const hidden = [...secretPaths(), configPath(), ...socketPaths(confinement.env)].flatMap(existing)
  const steps: Step[] = [
    { path: '/', words: ['--ro-bind', '/', '/'] },
    { path: '/dev', words: ['--dev', '/dev'] },
    { path: '/proc', words: ['--proc', '/proc'] },
    // Root without any capability still owns what is in there: core_pattern alone would make it master of the machine. Bubblewrap covers less (0.8).
    ...KERNEL_FILES.map((path) => ({ path, words: ['--ro-bind-try', path, path] })),
    ...runSteps(),
    ...confinement.writable.map((path) => writableStep(path, confinement)),
    ...confinement.guarded.flatMap((path) => guardSteps(path, confinement)),
    ...(confinement.mode === 'read-only' ? [] : confinement.writable.flatMap(gitSteps)),
    ...hidden.map(hidingStep),
  ]
  const readOnly = hidden.filter((path) => isDirectory(path) && !confinement.writable.some((writable) => isWithin(path, writable)))
  const ordered = steps.map((step) => ({ ...step, depth: step.path === '/' ? 0 : step.path.split('/').length })).sort((a, b) => a.depth - b.depth)
  return [...ordered.flatMap(({ words }) => words), ...readOnly.flatMap((path) => ['--remount-ro', path])]
}

function runSteps(): Step[] {
  if (!isDirectory('/run')) return []
  const resolver = existing('/etc/resolv.conf').filter((path) => isWithin('/run', path))
  const kept = [...KEPT_IN_RUN, ...resolver].filter((path) => existsSync(path))
  return [
    { path: '/run', words: ['--tmpfs', '/run'] },
    ...(existing('/var/run')[0] === '/var/run' ? [{ path: '/var/run', words: ['--tmpfs', '/var/run'] }] : []),
    ...kept.map((path) => ({ path, words: ['--ro-bind-try', path, path] })),
  ]
}

function writableStep(path: string, { mode, writable }: Confinement): Step {
  if (mode !== 'read-only') return { path, words: ['--bind', path, path] }
  // A temporary directory is needed even to read: one of the command's own.
  return { path, words: path === writable[0] ? ['--ro-bind', path, path] : ['--tmpfs', path] }
}

/** What must not be written is read-only; the directories between become places that can't be moved away, or it could be made anew. */
function guardSteps(path: string, { mode, writable }: Confinement): Step[] {
  const within = writable.find((directory) => isWithin(directory, path))
  if (within === undefined || mode === 'read-only' || !existsSync(path)) return []
  const between: Step[] = []
  for (let above = dirname(path); above !== within && isWithin(within, above); above = dirname(above)) {
    between.push({ path: above, words: ['--bind', above, above] })
  }
  return [...between, { path, words: ['--ro-bind', path, path] }]
}

/**
 * A repository is written but for its hooks and its configuration: what stands there runs when somebody uses git outside. So is the repository that a
 * worktree belongs to, if it says so itself: `.git` of the worktree alone could name any directory.
 */
function gitSteps(workspace: string): Step[] {
  const git = join(workspace, '.git')
  const stats = lstatSync(git, { throwIfNoEntry: false })
  if (stats?.isDirectory()) return repositorySteps(git)
  if (!stats?.isFile()) return []
  const [directory, common] = worktreeOf(git) ?? []
  const steps = [{ path: git, words: ['--ro-bind', git, git] }]
  if (directory === undefined || common === undefined) return steps
  return [...steps, ...repositorySteps(common), ...filesReadOnly(directory, ['config.worktree', 'gitdir', 'commondir'])]
}

function repositorySteps(git: string): Step[] {
  const hooks = join(git, 'hooks')
  const isLink = (path: string) => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true
  // A link could be replaced.
  if ([hooks, join(git, 'config')].some(isLink)) return [{ path: git, words: ['--ro-bind', git, git] }]
  const hooksStep = existsSync(hooks) ? ['--ro-bind', hooks, hooks] : ['--tmpfs', hooks, '--remount-ro', hooks]
  const own = [{ path: git, words: ['--bind', git, git] }, { path: hooks, words: hooksStep }, ...filesReadOnly(git, ['config', 'config.worktree'])]
  return [...own, ...submoduleSteps(join(git, 'modules'))]
}

/** The repositories of submodules, in directories that are named as the submodules are: `modules/libs/a`. None can be moved away. */
function submoduleSteps(directory: string): Step[] {
  if (!isRealDirectory(directory)) return []
  const below = namesIn(directory)
    .map((name) => join(directory, name))
    .flatMap((path) => (existsSync(join(path, 'HEAD')) && isRealDirectory(path) ? repositorySteps(path) : submoduleSteps(path)))
  return below.length === 0 ? [] : [{ path: directory, words: ['--bind', directory, directory] }, ...below]
}

function isRealDirectory(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

function filesReadOnly(directory: string, names: readonly string[]): Step[] {
  return names.flatMap((name) => existing(join(directory, name))).map((path) => ({ path, words: ['--ro-bind', path, path] }))
}

/** The directory of a worktree in its repository, and the repository, if they know of it. */
function worktreeOf(gitFile: string): readonly [directory: string, repository: string] | undefined {
  try {
    const named = /^gitdir: (.*)\n$/.exec(readFileSync(gitFile, 'utf8'))?.[1] ?? ''
    const directory = realpathSync.native(resolve(dirname(gitFile), named))
    const back = readFileSync(join(directory, 'gitdir'), 'utf8').trim()
    const common = realpathSync.native(resolve(directory, readFileSync(join(directory, 'commondir'), 'utf8').trim()))
    const isRepository = ['objects', 'refs', 'HEAD'].every((name) => existsSync(join(common, name)))
    return back === gitFile && isRepository && dirname(directory) === join(common, 'worktrees') ? [directory, common] : undefined
  } catch {
    return undefined
  }
}

function socketPaths(env: readonly string[]): readonly string[] {
  const temporary = tmpdir()
  const inTemporary = namesIn(temporary).filter((name) => SOCKETS_IN_TMP.test(name))
  const agent = env.includes('SSH_AUTH_SOCK') ? undefined : process.env.SSH_AUTH_SOCK
  return [...SOCKETS_IN_HOME.map((name) => join(homedir(), name)), ...inTemporary.map((name) => join(temporary, name)), ...(agent ? [agent] : [])]
}

function hidingStep(path: string): Step {
  return { path, words: isDirectory(path) ? ['--tmpfs', path] : ['--ro-bind', '/dev/null', path] }
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory)
  } catch {
    return []
  }
}

/** The real path of what is there, if anything is. /dev itself is made anew for each command. */
function existing(path: string): readonly string[] {
  try {
    if (statSync(path, { throwIfNoEntry: false }) === undefined) return []
    const real = realpathSync.native(path)
    return isWithin('/dev', real) ? [] : [real]
  } catch {
    return []
  }
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}
