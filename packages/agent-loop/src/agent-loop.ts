import { readFileSync } from 'node:fs'
import { command, EXIT, systemError } from '@agentpipe/stage'
import { CostLimit } from './cost-limit.js'
import { Head } from './head.js'
import { OPTIONS, type Settings } from './options.js'
import { withProfile } from './profiles.js'
import { chooseProvider } from './providers.js'
import { makeSessionId } from './session-id.js'

/** `agent-loop`: the head of the ring. */
export const agentLoop = command({
  options: OPTIONS,
  async stage(context) {
    const settings = withProfile(context)
    const provider = await chooseProvider(settings, context.diagnose)
    const outputSchema = await outputSchemaOf(settings)
    const system = [systemPrompt(settings), outputSchema?.prompt ?? ''].filter((part) => part !== '').join('\n\n')
    const cost = settings['max-cost']
    const costLimit = cost === undefined ? undefined : new CostLimit(cost, provider.model)
    const choose = (model: string) => chooseProvider({ ...settings, model }, context.diagnose)
    return new Head(context, { settings, provider, choose, outputSchema, costLimit, system, session: settings.session ?? makeSessionId(new Date()) })
  },
})

async function outputSchemaOf({ 'output-schema': path }: Settings) {
  return path === undefined ? undefined : (await import('./output-schema.js')).readOutputSchema(path)
}

/** The text of --system and --append-system, with an empty line between. Throws StageError (66) when the file can't be read. */
function systemPrompt({ system: path, 'append-system': appended }: Settings): string {
  const parts = [path === undefined ? '' : readText(path), appended ?? '']
  return parts.filter((part) => part !== '').join('\n\n')
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw systemError(EXIT.NO_INPUT, `cannot read ${path}`, error)
  }
}
