import { withErrorLink } from './error-page.ts'

const CODE = 'SLUICE_BAD_SEED'

/** Identify it by `code`, never by `instanceof`: two versions of this package may be loaded in one process. */
export class BadSeedError extends Error {
  readonly code: typeof CODE = CODE
  constructor(received: string) {
    super(withErrorLink(CODE, `${CODE}: seed: expected a Uint8Array of at least 16 bytes, received ${received}`))
    this.name = 'BadSeedError'
  }
}
