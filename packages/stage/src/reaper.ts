import { type ChildProcess, spawn } from 'node:child_process'

/** Milliseconds within which it is told of groups: each time wakes it up, beside a command that is to run, and most commands end sooner. */
const TELL_MS = 50

/**
 * The groups of the commands that a stage runs, known to one small process that outlives the stage: when its input ends, be it
 * that the stage was killed with SIGKILL, it kills every group that is still on its list.
 *
 * It is a shell, in a session of its own, since a second Node would cost 40 MB and 50 ms.
 */
export class Reaper {
  readonly #mark: string
  #process: ChildProcess | undefined
  /** Groups that it has not been told of yet, since it would find them by the mark; and those that it has not been told to forget. */
  readonly #added = new Set<number>()
  #removed: number[] = []
  #telling: NodeJS.Timeout | undefined

  /** `mark`, NAME=VALUE, stands in the environment of all that is to end, groups or not; without it only groups are looked for. */
  constructor(mark = '') {
    this.#mark = mark
  }

  /** Puts a group on the list. */
  add(group: number): void {
    this.#process ??= startReaper(this.#mark)
    this.#added.add(group)
    if (this.#mark === '') this.#tell()
    else this.#tellSoon()
  }

  /** What is to be removed at the end: files of these patterns in a directory, and itself if it is empty then. */
  removes(directory: string, ...patterns: readonly string[]): void {
    if (!directory.includes('\n')) this.#write(...patterns.map((pattern) => `/ ${pattern} ${directory}`))
  }

  /** Takes a group off the list: its leader has ended and been waited for, and its number can become another's. */
  remove(group: number): void {
    if (this.#added.delete(group)) return
    this.#removed.push(group)
    this.#tellSoon()
  }

  #tellSoon(): void {
    this.#telling ??= setTimeout(() => this.#tell(), TELL_MS).unref()
  }

  #tell(): void {
    clearTimeout(this.#telling)
    this.#telling = undefined
    this.#write(...this.#removed.map((group) => `- ${group}`), ...[...this.#added].map((group) => `+ ${group}`))
    this.#removed = []
    this.#added.clear()
  }

  #write(...lines: readonly string[]): void {
    this.#process ??= startReaper(this.#mark)
    if (lines.length > 0) this.#process.stdin?.write(`${lines.join('\n')}\n`)
  }

  /** Kills every group on the list, now. */
  close(): void {
    this.#process?.stdin?.end()
    this.#process = undefined
  }
}

// kill -s, not kill -KILL: dash takes `--` behind the latter for a process.
const REAPER = `trap '' INT TERM HUP
groups=' '
while IFS=' ' read -r operation group directory; do
  case $operation in
    /) remove="$remove
$group $directory" ;;
    +) groups="$groups$group " ;;
    -) case $groups in *" $group "*) groups="\${groups%% $group *} \${groups#* $group }" ;; esac ;;
  esac
done
for group in $groups; do kill -s KILL -- "-$group"; done
if [ "$1" ]; then
  # Until there is none: one of them may just have started another.
  for _ in 1 2 3 4 5 6 7 8 9; do
    found=$(grep -lsz "^$1$" /proc/[0-9]*/environ)
    [ "$found" ] || break
    for process in $found; do process=\${process#/proc/}; kill -s KILL "\${process%/environ}"; done
  done
fi
printf %s "$remove" | while IFS=' ' read -r pattern directory; do
  [ "$pattern" ] || continue
  rm -f "$directory"/$pattern
  rmdir "$directory"
done`

function startReaper(mark: string): ChildProcess {
  // node:child_process, not execa: nothing of it is needed here, and the first command would wait 20 ms for it.
  const reaper = spawn('/bin/sh', ['-c', REAPER, 'reaper', mark], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] })
  reaper.on('error', () => {})
  reaper.stdin?.on('error', () => {})
  reaper.unref()
  ;(reaper.stdin as unknown as { unref(): void }).unref()
  return reaper
}
