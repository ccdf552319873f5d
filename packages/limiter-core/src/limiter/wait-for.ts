import { losesByTurns } from '../algorithms/booking-policy.ts'
import { capacityOf, drainPerMs, reachMs } from '../algorithms/policy-forms.ts'
import type { Clock, Decision, MaybePromise, Policy } from '../contracts.ts'
import { optionalWith, optionsOf } from '../options/options.ts'
import { clockOf, KEEP_ALIVE } from '../time/clock.ts'
import { type Duration, parseMs } from '../time/duration.ts'
import { onAbort } from '../time/on-abort.ts'
import type { Keys } from './charges.ts'
import type { Costs } from './costs/costs.ts'
import type { Limiter } from './limiter.ts'

export interface WaitOptions {
  readonly cost?: Costs | undefined
  /** Longest time to wait, counted from the call. */
  readonly maxWaitMs: Duration
  /** If aborted, the promise rejects with the signal's reason. A take in progress at that time may still succeed. */
  readonly signal?: AbortSignal | undefined
  /** Pass the limiter's clock if the limiter has one. */
  readonly clock?: Clock | undefined
}

type Waited = Pick<Limiter<MaybePromise<Decision>>, 'take'> & Partial<Pick<Limiter, 'peek' | 'policies'>>

/**
 * Takes `cost` units (default: 1) as soon as they fit. Resolves to an allowed decision, or to a denied one as soon as
 * the next attempt would be later than `maxWaitMs`. If another caller takes the units first, the wait continues: callers
 * do not queue, unless the policy has `retry: 'booked'`. If the turns of the policy are slower than its units, calls of
 * this process for a key form a line. The first call of the line takes free units, and books a turn if other callers
 * have turns, or have taken the units.
 */
export async function waitFor(limiter: Waited, key: Keys, options: WaitOptions): Promise<Decision> {
  const {
    cost = 1,
    maxWaitMs,
    signal,
    clock: given,
  } = optionsOf('waitFor', options, ['cost', 'maxWaitMs', 'signal', 'clock'])
  optionalWith('waitFor: signal', signal, ['throwIfAborted', 'addEventListener'], 'an AbortSignal')
  const clock = clockOf(given)
  const endsAt = clock.now() + parseMs(maxWaitMs, 'maxWaitMs')
  signal?.throwIfAborted()
  const place = limiter.policies?.some(losesByTurns) ? enter(limiter, JSON.stringify(key)) : undefined
  try {
    if (place?.previous) await pause(endsAt - clock.now(), clock, signal, place.previous)
    const late = place && (await lookFor(() => limiter.peek?.(key, cost), endsAt, clock, signal))
    if (late) return late
    for (;;) {
      signal?.throwIfAborted()
      const decision = await limiter.take(key, cost)
      if (decision.allowed || clock.now() + decision.retryAfterMs > endsAt) return decision
      place?.leave()
      signal?.throwIfAborted()
      await pause(decision.retryAfterMs, clock, signal)
    }
  } finally {
    place?.leave()
  }
}

/** Ends of the calls in each line, by limiter and key. */
const lines = new WeakMap<object, Map<string, Promise<void>>>()

/** Joins the line of a key. `previous` ends when all earlier calls have left it. */
function enter(limiter: object, key: string): { readonly previous: Promise<void> | undefined; leave(): void } {
  const ofLimiter = lines.get(limiter) ?? new Map<string, Promise<void>>()
  lines.set(limiter, ofLimiter)
  const previous = ofLimiter.get(key)
  let leave = (): void => {}
  const left = new Promise<void>((resolve) => (leave = resolve))
  const end = Promise.all([previous, left]).then(() => {
    if (ofLimiter.get(key) === end) ofLimiter.delete(key)
  })
  ofLimiter.set(key, end)
  return { previous, leave }
}

/** Waits until units are free, or others have taken them. Returns a denial if they cannot be free before `endsAt`. */
async function lookFor(
  peek: () => MaybePromise<Decision | undefined>,
  endsAt: number,
  clock: Clock,
  signal: AbortSignal | undefined,
): Promise<Decision | undefined> {
  let until = Number.POSITIVE_INFINITY
  while (clock.now() < until) {
    const decision = await peek()
    signal?.throwIfAborted()
    const ms = decision && lookAgainMs(decision)
    if (ms === undefined) return undefined
    if (clock.now() + ms > endsAt) return decision
    until = Math.min(until, clock.now() + (decision as Decision).retryAfterMs)
    await pause(ms, clock, signal)
  }
  return undefined
}

/**
 * Returns when units may be free, in milliseconds; undefined if they are free, or others have turns. The wait of a
 * policy with turns is rounded up to seconds.
 */
function lookAgainMs({ allowed, retryAfterMs, verdicts }: Decision): number | undefined {
  const denied = verdicts.flatMap((one) => (one.allowed ? [] : one.policy))
  if (allowed || denied.some((policy) => retryAfterMs >= reachMs(policy) + 1_000)) return undefined
  return retryAfterMs > 1_000 ? retryAfterMs - 1_000 : Math.min(...denied.map(lookMs))
}

/** Returns the milliseconds between looks: a unit that drains, or a small part of a wait. */
function lookMs(policy: Policy): number {
  const unitMs = 1 / drainPerMs(policy)
  if (unitMs > 1_000) return Math.min(policy.windowMs, unitMs) / 50
  return Math.max(unitMs, Math.min(20, unitMs * capacityOf(policy)))
}

/** Resolves after `ms` milliseconds, or with `sooner`. Rejects with the reason of `signal` if it is aborted before. */
export function pause(ms: number, clock: Clock, signal?: AbortSignal | null, sooner?: Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    const due = (): void => {
      cancel()
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
    sooner?.then(due)
  })
}
