import { type Answer, type Backend, type MaybePromise, memoryBackend } from '@sluice/limiter-core'
import { FrontCounters } from '@sluice/testkit'

/**
 * A backend that forwards every call to another backend through `way`, by default at once. It also accepts charges
 * whose counters another backend opened: counters with equal names share one count.
 */
export function frontBackend<A extends MaybePromise<Answer> = Answer>(
  name: string,
  behind: Backend<Answer> = memoryBackend(),
  way: (ask: () => Answer) => A = (ask) => ask() as A,
): Backend<A> {
  const counters = new FrontCounters(behind)
  const backend: Backend<A> = {
    name,
    open: (compiled, count) => counters.open(backend, compiled, count),
    takeAll: (charges, moment) => way(() => behind.takeAll(counters.behind(charges), moment)),
    peekAll: (charges, moment) => way(() => behind.peekAll(counters.behind(charges), moment)),
    adjustAll: (charges, takenAt, moment) => way(() => behind.adjustAll(counters.behind(charges), takenAt, moment)),
    resetAll: (keys) => behind.resetAll(counters.behind(keys)),
  }
  return backend
}
