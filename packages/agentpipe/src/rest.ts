import type { Readable } from 'node:stream'

/** Who has left the stages behind, but not let go of their output, is not waited for any longer than this. */
const SILENCE_MS = 1000

/** Resolves when a stream has ended, or when nothing more comes of it though nobody is left who should write there. */
export function rest(source: Readable): Promise<void> {
  return new Promise((resolve) => {
    if (source.closed || source.readableEnded) return resolve()
    // Where our own reader is slow, it is not they who are silent.
    const silent = setTimeout(() => (source.isPaused() ? silent.refresh() : resolve()), SILENCE_MS)
    source.on('data', () => silent.refresh())
    source.on('close', () => {
      clearTimeout(silent)
      resolve()
    })
  })
}
