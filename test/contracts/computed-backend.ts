import type { Backend, Charge, Counter } from '@sluice/limiter-core'

/**
 * A backend that answers every call, including single takes of its counters, with what the test computes from the
 * charges.
 */
export function oddBackend(answer: (charges: readonly Charge[]) => unknown, more: Partial<Backend> = {}): Backend {
  const answers = (charges: readonly Charge[]): never => answer(charges) as never
  return {
    name: 'odd',
    open(compiled, name) {
      const counter: Counter = { compiled, name, take: (key, cost) => answers([{ key, counter, cost }]) }
      return counter
    },
    takeAll: answers,
    peekAll: answers,
    adjustAll: answers,
    resetAll: () => undefined,
    ...more,
  }
}
