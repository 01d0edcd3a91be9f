import { release } from 'node:os'
import { basename } from 'node:path'
import { printable } from '@agentpipe/stage'
import type { Repository } from './repository.js'

/** What a model wants to know of the place where it works, a line each. `now` is when the session began: it does not go on with the time. */
export function environmentFacts(directory: string | undefined, repository: Repository | undefined, now: Date): string {
  return [
    '# Environment',
    `- Working directory: ${printable(directory ?? 'it has been removed')}`,
    `- Git: ${repository === undefined ? 'no repository' : repositoryFact(repository)}`,
    `- Platform: ${process.platform} ${release()}, ${process.arch}`,
    `- Shell: ${printable(basename(process.env.SHELL || 'sh'))}`,
    `- Date: ${localDate(now)}`,
  ].join('\n')
}

function repositoryFact({ root, branch }: Repository): string {
  return `the repository ${printable(root)}, ${branch === undefined ? 'no branch checked out' : `branch ${printable(branch)}`} when the session began`
}

function localDate(date: Date): string {
  const two = (number: number) => String(number).padStart(2, '0')
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
}
