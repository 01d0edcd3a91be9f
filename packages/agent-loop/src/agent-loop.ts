import { command } from '@agentpipe/stage'
import { CostLimit } from './cost-limit.js'
import { Head } from './head.js'
import { OPTIONS, type Settings } from './options.js'
import { withProfile } from './profiles.js'
import { chooseProvider } from './providers.js'
import { makeSessionId } from './session-id.js'
import { givenPrompt, systemPrompt } from './system-prompt.js'

/** `agent-loop`: the head of the ring. */
export const agentLoop = command({
  options: OPTIONS,
  async stage(context) {
    const settings = withProfile(context)
    const outputSchema = await outputSchemaOf(settings)
    const promptFor = async (plays: boolean) => {
      const system = plays ? givenPrompt(settings) : await systemPrompt(settings, context.diagnose)
      return [system, outputSchema?.prompt ?? ''].filter((part) => part !== '').join('\n\n')
    }
    if (settings['show-prompt']) {
      const { ShowPrompt } = await import('./show-prompt.js')
      return new ShowPrompt(context.output, await promptFor(false), settings)
    }
    const provider = await chooseProvider(settings, context.diagnose)
    const system = await promptFor(provider.plays === true && settings.until === undefined)
    const cost = settings['max-cost']
    const costLimit = cost === undefined ? undefined : new CostLimit(cost, provider.model)
    const choose = (model: string) => chooseProvider({ ...settings, model }, context.diagnose)
    return new Head(context, { settings, provider, choose, outputSchema, costLimit, system, session: settings.session ?? makeSessionId(new Date()) })
  },
})

async function outputSchemaOf({ 'output-schema': path }: Settings) {
  return path === undefined ? undefined : (await import('./output-schema.js')).readOutputSchema(path)
}
