import { type Answer, type Backend, type MaybePromise, memoryBackend } from '@sluice/limiter-core'
import { FrontCounters } from '@sluice/testkit'

/**
 * A backend in front of another one, which it asks in a way that a test says: at once, unless said. It takes charges of
 * counters that others opened, too: those of equal names are one count.
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
