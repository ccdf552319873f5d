import type { Clock, Decision, MaybePromise } from '../contracts.ts'
import { optionsOf } from '../options/options.ts'
import { AWAITED, clockOf } from '../time/clock.ts'
import { type Duration, parseMs } from '../time/duration.ts'
import type { Costs, Keys } from './charges.ts'
import type { Limiter } from './limiter.ts'

export interface WaitOptions {
  readonly cost?: Costs
  /** Give up when it would take longer than this from now. */
  readonly maxWaitMs: Duration
  /** Aborted: the promise rejects with its reason, and nothing is taken. A take that is under way by then may stand. */
  readonly signal?: AbortSignal
  /** The limiter's own clock, where it has one. */
  readonly clock?: Clock
}

/**
 * Takes as soon as it fits, and answers the decision: an allowed one, or a denied one once waiting on could not help
 * within `maxWaitMs`. Who waits holds no place in a queue: others may be faster, and then it waits on.
 */
export async function waitFor(
  limiter: Pick<Limiter<MaybePromise<Decision>>, 'take'>,
  key: Keys,
  options: WaitOptions,
): Promise<Decision> {
  const {
    cost = 1,
    maxWaitMs,
    signal,
    clock: given,
  } = optionsOf('waitFor', options, ['cost', 'maxWaitMs', 'signal', 'clock'])
  const clock = clockOf(given)
  const endsAt = clock.now() + parseMs(maxWaitMs, 'maxWaitMs')
  for (;;) {
    signal?.throwIfAborted()
    const decision = await limiter.take(key, cost)
    if (decision.allowed || clock.now() + decision.retryAfterMs > endsAt) return decision
    signal?.throwIfAborted()
    await passing(decision.retryAfterMs, clock, signal)
  }
}

function passing(ms: number, clock: Clock, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const due = (): void => {
      signal?.removeEventListener('abort', aborted)
      resolve()
    }
    const cancel = clock.after(ms, due, AWAITED)
    const aborted = (): void => {
      cancel()
      reject(signal?.reason)
    }
    signal?.addEventListener('abort', aborted, { once: true })
  })
}
