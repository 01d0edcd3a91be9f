import { chmodSync, cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fixture, root } from '@agentpipe/testing'
import { Workspace } from './capture.js'

/** What somebody has who tries what a page says: a project of their own in a git repository, and our scripts and fixtures at hand. */
export function newcomer(t: { teardown(work: () => void): void }): Workspace {
  const workspace = new Workspace(t, Buffer.alloc(0))
  cpSync(fixture('sample-project'), workspace.directory, { recursive: true })
  for (const name of ['scripts', 'fixtures']) symlinkSync(join(root, name), workspace.path(name))
  mkdirSync(workspace.path('stand-ins'))
  writeFileSync(workspace.path('stand-ins/ssh'), '#!/bin/sh\n# Another machine, which is this one.\nshift\nexec sh -c "$*"\n')
  chmodSync(workspace.path('stand-ins/ssh'), 0o755)
  writeFileSync(workspace.path('stand-ins/git'), '#!/bin/sh\nprintf "%s\\n" "+a" "-b"\n')
  chmodSync(workspace.path('stand-ins/git'), 0o755)
  return workspace
}

/** What stands in the project now, but for the log of sessions. */
export function filesOf({ directory }: Workspace): string[] {
  return readdirSync(directory)
    .filter((name) => name !== 'state')
    .sort()
}
