import { isUtf8 } from 'node:buffer'
import { type Diagnose, descriptorKind, EXIT, readInput, reason, StageError, usage } from '@agentpipe/stage'

/** What Node makes of an operand's bytes that are not UTF-8. */
const REPLACEMENT = '\ufffd'

/** After this long without the end of standard input a user is told what is waited for. */
const PATIENCE_MS = 2000

/**
 * The prompt, as bytes: the operands, and what is piped to us behind them. Throws StageError (64) when there is neither,
 * (65) when it holds a NUL byte, which no shell can hold.
 */
export async function readPrompt(operands: readonly string[], diagnose: Diagnose): Promise<Buffer> {
  const given = Buffer.from(operands.join(' '))
  const piped = descriptorKind(0) === 'terminal' ? Buffer.alloc(0) : await readPiped(diagnose)
  const prompt = given.length > 0 && piped.length > 0 ? Buffer.concat([given, Buffer.from('\n\n'), piped]) : Buffer.concat([given, piped])
  if (prompt.toString().trim() === '') throw usage('a prompt is needed: agentpipe "fix the failing test"')
  if (!isUtf8(prompt) || given.includes(REPLACEMENT)) diagnose('the prompt is not UTF-8: what is not becomes U+FFFD')
  const nul = prompt.indexOf(0)
  if (nul >= 0) throw new StageError(EXIT.DATA, `the prompt holds a NUL byte at byte ${nul}: it must be text`)
  return prompt
}

function readPiped(diagnose: Diagnose): Promise<Buffer> {
  const chunks: Buffer[] = []
  const notice = setTimeout(() => {
    diagnose('waiting for the end of standard input, which is added to the prompt; run with </dev/null to add nothing')
  }, PATIENCE_MS)
  return new Promise<Buffer>((resolve, reject) => {
    readInput(0, {
      chunk: (bytes) => chunks.push(bytes),
      end: () => resolve(Buffer.concat(chunks)),
      error: (error) => reject(new StageError(EXIT.IO, `cannot read standard input: ${reason(error)}`)),
    })
  }).finally(() => clearTimeout(notice))
}
