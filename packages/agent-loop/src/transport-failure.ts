import type { ProviderError } from './provider.js'

/** What the transport throws. SDKs read the words of errors and of their causes, and make timeouts of their own of them: here they find none. */
export class TransportFailure extends Error {
  constructor(readonly thrown: ProviderError) {
    super('the transport has failed')
  }
}
