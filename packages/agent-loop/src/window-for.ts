import { ContextWindow } from './context-window.js'
import { requestTokens } from './models.js'
import type { Settings } from './options.js'
import { textTokens } from './tokens.js'
import type { ToolList } from './tool-list.js'

/** The window of `model` as the settings have it, with the system prompt and the tools in it. */
export function windowFor(model: string, settings: Settings, system: string, tools: ToolList): ContextWindow {
  const front = () => textTokens(system) + textTokens(JSON.stringify(tools.all))
  return new ContextWindow({ model, limit: settings['max-context'] ?? requestTokens(model), compactAt: settings['compact-at'], front })
}
