import type { Output } from '@agentpipe/stage'

/** What a Prompter has to do with. */
export interface Surroundings {
  readonly output: Output
  /** Whether what happens comes round. */
  readonly ring: boolean
  readonly bell: boolean
  /** Where the session to go on with is to be written. */
  readonly next: string | undefined
  /** Stops the job, as Ctrl-Z does. */
  readonly suspend: () => void
  /** Leaves at once, though the ring has not ended. */
  readonly leave: (status: number) => void
}
