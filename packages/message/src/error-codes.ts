/** Codes of the ERRORs that the model is told of: they are part of the conversation, and what it is resumed from. */
export const TOLD_TO_THE_MODEL: ReadonlySet<string | undefined> = new Set(['bad_call', 'repeated_calls', 'output_schema', 'cut'])
