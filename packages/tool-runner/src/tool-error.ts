/** How a call ended. */
export type Status = 'ok' | 'error' | 'denied' | 'timeout' | 'cancelled'

/** Why a call was not done, told to the model. */
export class ToolError extends Error {
  override readonly name = 'ToolError'

  constructor(
    message: string,
    readonly status: Status = 'error',
    readonly summary = message,
  ) {
    super(message)
  }
}
