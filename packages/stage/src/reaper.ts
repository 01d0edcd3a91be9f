import { type ChildProcess, spawn } from 'node:child_process'

/**
 * The groups of the commands that a stage runs, known to one small process that outlives the stage: when its input ends, be it
 * that the stage was killed with SIGKILL, it kills every group that is still on its list.
 *
 * It is a shell, in a session of its own, since a second Node would cost 40 MB and 50 ms.
 */
export class Reaper {
  #process: ChildProcess | undefined

  /** Puts a group on the list. */
  add(group: number): void {
    this.#process ??= startReaper()
    this.#process.stdin?.write(`+ ${group}\n`)
  }

  /** Takes a group off the list: its leader has ended and been waited for. */
  remove(group: number): void {
    this.#process?.stdin?.write(`- ${group}\n`)
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
while read -r operation group; do
  case $operation in
    +) groups="$groups$group " ;;
    -) case $groups in *" $group "*) groups="\${groups%% $group *} \${groups#* $group }" ;; esac ;;
  esac
done
for group in $groups; do kill -s KILL -- "-$group"; done`

function startReaper(): ChildProcess {
  // node:child_process, not execa: nothing of it is needed here, and the first command would wait 20 ms for it.
  const reaper = spawn('/bin/sh', ['-c', REAPER], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] })
  reaper.on('error', () => {})
  reaper.stdin?.on('error', () => {})
  reaper.unref()
  ;(reaper.stdin as unknown as { unref(): void }).unref()
  return reaper
}
