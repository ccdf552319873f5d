import { isPromise, messageOf, type Permit, warnOnce } from '@sluice/limiter-core'

/** Gives a permit back. One of a backend of the user's may throw or reject, which must end nobody else's work. */
export function releasePermit(permit: Permit, outcome: 'success' | 'dropped'): void {
  const failed = (error: unknown): void =>
    warnOnce('SLUICE_BACKEND_FAILED', () => `a permit was not taken back: ${messageOf(error)}`, 'release')
  try {
    const released: unknown = permit.release(outcome)
    if (isPromise(released)) Promise.resolve(released).catch(failed)
  } catch (error) {
    failed(error)
  }
}
