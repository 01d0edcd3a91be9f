import { homedir } from 'node:os'
import { join } from 'node:path'
import { isWithin } from './paths.js'

/** Where people's keys are, from the home directory. */
const IN_HOME = [
  '.ssh',
  '.gnupg',
  '.aws',
  '.azure',
  '.config/gcloud',
  '.config/gh',
  '.config/hub',
  '.config/op',
  '.docker/config.json',
  '.kube',
  '.netrc',
  '.npmrc',
  '.pypirc',
  '.git-credentials',
  '.config/git/credentials',
  '.password-store',
  '.local/share/keyrings',
  '.mozilla',
  '.config/google-chrome',
  '.config/chromium',
]
const ELSEWHERE = ['/etc/shadow', '/etc/gshadow', '/etc/sudoers', '/etc/sudoers.d']

/** Files and directories that hold secrets, as paths. */
export function secretPaths(): readonly string[] {
  return [...IN_HOME.map((name) => join(homedir(), name)), ...ELSEWHERE]
}

/** Whether a real path is a secret's: one of the user's, or another process's environment and memory. */
export function isSecret(path: string): boolean {
  return secretPaths().some((secret) => isWithin(secret, path)) || /^\/proc\/[^/]+\/(?:task\/[^/]+\/)?(?:environ|mem)$/.test(path)
}
