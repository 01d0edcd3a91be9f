import { readdirSync, readFileSync } from 'node:fs'
import { eventually } from '@agentpipe/testing'

/** The processes whose command line is exactly `line` (`sleep 61.5`); zombies, which have none, do not count. */
export function running(line: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && commandLine(name) === line)
    .map(Number)
}

/** Waits until nothing of the name runs; gives what still does in the end. */
export async function leftOf(line: string): Promise<number[]> {
  await eventually(() => running(line).length === 0, 30_000)
  return running(line)
}

function commandLine(process: string): string {
  try {
    return readFileSync(`/proc/${process}/cmdline`, 'utf8').replace(/\0$/, '').replaceAll('\0', ' ')
  } catch {
    return ''
  }
}
