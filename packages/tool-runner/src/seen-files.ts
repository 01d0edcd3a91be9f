import { createHash, type Hash } from 'node:crypto'

/** Which contents the model knows: what it has read as a whole, and what it has written. By content, not by time, so that `touch` changes nothing. */
export class SeenFiles {
  readonly #hashes = new Map<string, string>()

  /** The model knows that `content` is in the file at a real path. */
  saw(path: string, content: Buffer): void {
    this.sawHash(path, newHash().update(content))
  }

  sawHash(path: string, hash: Hash): void {
    this.#hashes.set(path, hash.digest('base64'))
  }

  /** The model knows only a part of it. */
  forget(path: string): void {
    this.#hashes.delete(path)
  }

  /** Whether the model knows the file as something other than `content`. */
  isStale(path: string, content: Buffer): boolean {
    const known = this.#hashes.get(path)
    return known !== undefined && known !== newHash().update(content).digest('base64')
  }
}

/** A hash to be fed with the whole content of a file. */
export function newHash(): Hash {
  return createHash('sha256')
}
