import { withPage } from './error-page.ts'

const CODE = 'SLUICE_BAD_SEED'

/** Known by its `code`, never by `instanceof`: two versions of a package may meet in one process. */
export class BadSeedError extends Error {
  readonly code: typeof CODE = CODE
  constructor(got: string) {
    super(withPage(CODE, `${CODE}: expected a Uint8Array of 16 bytes or more, received ${got}`))
    this.name = 'BadSeedError'
  }
}
