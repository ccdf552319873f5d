import type { MaybePromise } from '../contracts.ts'
import { messageOf } from '../errors.ts'
import { isPromise } from '../maybe-promise.ts'
import type { Observers } from '../observers.ts'
import { warnOnce } from '../warn-once.ts'

/**
 * Runs a function of the user's on a request. Where it throws, rejects, or answers what `accept` throws at, `fallback`
 * stands in, observers hear of it, and a warning names it once: a hook never becomes a 500. Without observers it is
 * nobody's fault, and nobody hears of it.
 */
export function runHook<T, U>(
  name: string,
  run: () => MaybePromise<T>,
  accept: (value: T) => U,
  fallback: U,
  observers: Observers | undefined,
): MaybePromise<U> {
  const failed = (error: unknown): U => {
    if (!observers) return fallback
    warnOnce(
      'SLUICE_HOOK_FAILED',
      `${name} failed, ${typeof fallback === 'object' ? 'the first one' : fallback} stands in: ${messageOf(error)}`,
      name,
    )
    observers.event('hookFailed', { hook: name, error })
    return fallback
  }
  try {
    const value = run()
    return isPromise(value) ? Promise.resolve(value).then(accept).catch(failed) : accept(value)
  } catch (error) {
    return failed(error)
  }
}
