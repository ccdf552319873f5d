/** Known by its `code`, never by `instanceof`: two versions of a package may meet in one process. */
export class BadSeedError extends Error {
  readonly code: 'SLUICE_BAD_SEED' = 'SLUICE_BAD_SEED'
  constructor(got: string) {
    super(`SLUICE_BAD_SEED: got ${got}, expected a Uint8Array of 16 bytes or more`)
    this.name = 'BadSeedError'
  }
}
