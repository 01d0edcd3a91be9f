import { printable } from '@agentpipe/stage'

/** Where Ollama listens. */
const OLLAMA = process.env.AGENTPIPE_OLLAMA_URL || 'http://127.0.0.1:11434'
/** Where nothing listens the answer is there at once. */
const PATIENCE_MS = 2000
const SHOWN = 3

/** What to say of a model server on this machine, with a semicolon in front; nothing where there is none. */
export async function localServer(): Promise<string> {
  try {
    const answer = await fetch(`${OLLAMA}/api/tags`, { signal: AbortSignal.timeout(PATIENCE_MS) })
    const { models } = (await answer.json()) as { models?: readonly { name?: unknown }[] }
    const names = (models ?? []).map(({ name }) => name).filter((name) => typeof name === 'string')
    const model = printable(names[0] ?? 'NAME')
    const others = names.length > 1 ? ` (it has ${printable(names.slice(0, SHOWN).join(', '))}${names.length > SHOWN ? ', ...' : ''})` : ''
    return `; Ollama is running here: --provider openai --base-url ${OLLAMA.replace('127.0.0.1', 'localhost')}/v1 --model ${model}${others}`
  } catch {
    return ''
  }
}
