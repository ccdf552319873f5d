import type { Next } from './next.ts'
import { nextTick } from './next-tick.ts'

/**
 * Goes on with a check when it has come, outside of its promise: what a handler throws or rejects with goes where it
 * would go without us. `onThrow` is the framework's, where it would have caught what its handler throws.
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
      // on a server without a framework nobody catches
      if (!onThrow) throw error
      return onThrow(error)
    }
  }
  return new Promise((resolve) => {
    check.then((outcome) => nextTick(() => resolve(goOn(outcome))))
  })
}
