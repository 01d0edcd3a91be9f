/** `word` as one word of a POSIX shell command (XCU 2.2.2): as it is where nothing in it is special, else in single quotes. */
export function quote(word: string): string {
  return /^[A-Za-z0-9_@%+:,./=-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

/** The same for any bytes but NUL. */
export function quoteBytes(bytes: Uint8Array): Buffer {
  // latin1 gives each byte its own character, and takes it back.
  return Buffer.from(`'${Buffer.from(bytes).toString('latin1').replaceAll("'", `'\\''`)}'`, 'latin1')
}
