import { usage } from '@agentpipe/stage'
import { quote } from './quote.js'

/** Seconds until a connection that gives no sign of life is given up: twice as many as stand here. */
const ALIVE = 3

/** ssh(1) asks nothing. Its own failures end with 255. */
const OPTIONS = ['-T', '-o', 'BatchMode=yes', '-o', 'ConnectTimeout=10', '-o', `ServerAliveInterval=${ALIVE}`, '-o', 'ServerAliveCountMax=2']
export const LOST = 255

/** The words of ssh that run a command of the shell on another machine, HOST or HOST:DIRECTORY. Throws StageError (64). */
export function sshWords(place: string, command: string): { readonly words: readonly string[]; readonly host: string } {
  const [, host = '', directory] = /^([^:]+|\[[^\]]*\])(?::(.+))?$/s.exec(place) ?? []
  if (host === '' || host.startsWith('-')) throw usage(`--on: expected HOST or HOST:DIRECTORY, found ${JSON.stringify(place)}`)
  const there = directory === undefined ? `exec ${command}` : `cd ${quote(directory)} && exec ${command}`
  return { words: [...OPTIONS, host, there], host }
}

/** What is said where ssh has ended with LOST. */
export function lostConnection(host: string): string {
  return `no connection to ${host}, or it was lost`
}
