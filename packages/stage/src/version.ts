/** The version of agentpipe; scripts/build puts the one of package.json here. */
export const VERSION: string = typeof AGENTPIPE_VERSION === 'string' ? AGENTPIPE_VERSION : '0.0.0'

declare const AGENTPIPE_VERSION: string | undefined
