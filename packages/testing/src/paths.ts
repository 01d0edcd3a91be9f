import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The top of the repository. */
export const root = fileURLToPath(new URL('../../../..', import.meta.url)).replace(/\/$/, '')

/** A file below fixtures/. */
export function fixture(...names: string[]): string {
  return join(root, 'fixtures', ...names)
}
