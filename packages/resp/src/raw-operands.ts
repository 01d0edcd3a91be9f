import { readFileSync } from 'node:fs'
import type { FieldValue } from '@agentpipe/frame'
import { usage } from '@agentpipe/stage'

const REPLACEMENT = '\ufffd'

/**
 * The last arguments of this process, as the octets that they were given as. Node decodes arguments as UTF-8, and what is no
 * UTF-8 (a file name may be anything) is lost; then they are taken from /proc. Throws StageError (64) where there is no /proc.
 */
export function rawOperands(operands: readonly string[]): readonly FieldValue[] {
  if (!operands.some((operand) => operand.includes(REPLACEMENT))) return operands
  let commandLine: Buffer
  try {
    commandLine = readFileSync('/proc/self/cmdline')
  } catch {
    throw usage('a FIELD is not UTF-8; give it on stdin, as -')
  }
  const words = splitAtNul(commandLine).slice(-operands.length)
  return operands.map((operand, index) => (operand.includes(REPLACEMENT) ? (words[index] as Buffer) : operand))
}

/** Each word is followed by a NUL. */
function splitAtNul(bytes: Buffer): Buffer[] {
  const words: Buffer[] = []
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(0, start)
    words.push(bytes.subarray(start, end))
    start = end + 1
  }
  return words
}
