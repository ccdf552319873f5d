import type { Next } from './next.ts'
import { nextTick } from './next-tick.ts'

/**
 * Continues after an asynchronous check, outside of its promise, so that errors of a handler surface where they would
 * without a limiter. `onThrow` receives synchronous errors if the framework would have caught them.
 */
export function afterCheck<T>(
  check: Promise<T>,
  go: (outcome: T) => unknown,
  onThrow: Next | undefined,
): Promise<unknown> {
  const goOn = (outcome: T): unknown => {
    try {
      return go(outcome)
    } catch (error) {
      // without a framework, the error is an uncaught exception of the process
      if (!onThrow) throw error
      return onThrow(error)
    }
  }
  return new Promise((resolve) => {
    check.then((outcome) => nextTick(() => resolve(goOn(outcome))))
  })
}
