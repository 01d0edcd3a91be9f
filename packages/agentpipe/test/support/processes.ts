import { readdirSync, readFileSync } from 'node:fs'
import { eventually } from '@agentpipe/testing'
import type { Workspace } from './capture.js'

export interface Running {
  readonly pid: number
  readonly parent: number
  readonly command: string
}

/** The processes that were started for a workspace, whoever their parent is now: its mark stands in their environment. */
export function running({ directory, others }: Workspace): Running[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && !others.has(name))
    .flatMap((name) => describe(Number(name), `RING_TEST=${directory}`))
}

/** Those whose command line holds `text`. */
export function runningAs(workspace: Workspace, text: string): Running[] {
  return running(workspace).filter(({ command }) => command.includes(text))
}

/** Whether the command itself runs, not only the shell that has it in its command line: what stands before it has been done. */
export function runsNow(workspace: Workspace, command: string): boolean {
  return running(workspace).some((process) => process.command === command)
}

/** Waits up to fifteen seconds until nothing of the workspace runs; gives what is left. */
export async function leftovers(workspace: Workspace): Promise<string[]> {
  await eventually(() => running(workspace).length === 0, 15_000)
  return running(workspace).map(({ command }) => command)
}

function describe(pid: number, mark: string): Running[] {
  try {
    if (!readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(mark)) return []
    const [, parent] = /\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'latin1')) ?? []
    return [{ pid, parent: Number(parent), command: readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ').trim() }]
  } catch {
    return []
  }
}
