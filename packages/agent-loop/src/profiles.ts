import { type Context, withNamedOptions } from '@agentpipe/stage'
import { OPTIONS, type Settings } from './options.js'

/** The settings with those of the profile that --profile names. Throws StageError (78). */
export function withProfile(context: Pick<Context<typeof OPTIONS>, 'name' | 'options' | 'given'>): Settings {
  return withNamedOptions(context, OPTIONS, { option: 'profile', key: 'profiles' })
}
