import type { Clock, Decision, MaybePromise } from '../contracts.ts'
import { optionalWith, optionsOf } from '../options/options.ts'
import { clockOf, KEEP_ALIVE } from '../time/clock.ts'
import { type Duration, parseMs } from '../time/duration.ts'
import { onAbort } from '../time/on-abort.ts'
import type { Keys } from './charges.ts'
import type { Costs } from './costs/costs.ts'
import type { Limiter } from './limiter.ts'

export interface WaitOptions {
  readonly cost?: Costs
  /** Longest time to wait, counted from the call. */
  readonly maxWaitMs: Duration
  /** If aborted, the promise rejects with the signal's reason. A take in progress at that time may still succeed. */
  readonly signal?: AbortSignal
  /** Pass the limiter's clock if the limiter has one. */
  readonly clock?: Clock
}

/**
 * Takes `cost` units (default: 1) as soon as they fit. Resolves to an allowed decision, or to a denied one as soon as
 * the next attempt would be later than `maxWaitMs`. If another caller takes the units first, the wait continues: callers
 * do not queue, unless the policy has `retry: 'booked'`.
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
  optionalWith('waitFor: signal', signal, ['throwIfAborted', 'addEventListener'], 'an AbortSignal')
  const clock = clockOf(given)
  const endsAt = clock.now() + parseMs(maxWaitMs, 'maxWaitMs')
  for (;;) {
    signal?.throwIfAborted()
    const decision = await limiter.take(key, cost)
    if (decision.allowed || clock.now() + decision.retryAfterMs > endsAt) return decision
    signal?.throwIfAborted()
    await pause(decision.retryAfterMs, clock, signal)
  }
}

/** Resolves after `ms` milliseconds. Rejects with the reason of `signal` if it is aborted in the meantime. */
export function pause(ms: number, clock: Clock, signal?: AbortSignal | null): Promise<void> {
  return new Promise((resolve, reject) => {
    const due = (): void => {
      forget?.()
      resolve()
    }
    const cancel = clock.after(ms, due, KEEP_ALIVE)
    const forget =
      signal &&
      onAbort(signal, () => {
        cancel()
        reject(signal.reason)
      })
  })
}
