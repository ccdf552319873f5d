import type { Clock } from '../contracts.ts'
import type { Call, GuardedCalls } from './guarded-calls.ts'
import { PendingAdjustment } from './pending-adjustment.ts'
import type { PendingTakeDeps } from './pending-take.ts'

/** Number of adjustments per round. */
const AT_ONCE = 128
/** Pause after a failed call, in milliseconds. */
const AGAIN_MS = 1_000

/**
 * Returns a function that sends owed calls after a backend has recovered: first all resets, then the adjustments in
 * rounds. Call it after each reply of the backend. It sends the next round, unless one is in progress, the breaker is
 * not closed or a call failed within the last second.
 */
export function owedCallSender(parts: PendingTakeDeps, calls: GuardedCalls, clock: Clock): () => void {
  const { remote, health } = parts
  const { owed } = health
  const send = <T, R>(call: Call<T, R>): void => {
    owed.inProgress++
    calls.callUnawaited<T, R>({
      operation: call.operation,
      send: (limits, now) => call.send(limits, now),
      answered: (answer, now) => {
        const result = call.answered(answer, now)
        owed.inProgress--
        return result
      },
      fallback: (now, basis) => {
        owed.inProgress--
        owed.pausedUntil = now + AGAIN_MS
        return call.fallback(now, basis)
      },
    })
  }
  return () => {
    const now = clock.now()
    if (owed.inProgress > 0 || health.breaker.state !== 'closed' || now < owed.pausedUntil) return
    const targets = owed.takeResets()
    if (targets.length > 0) {
      send({
        operation: 'reset',
        send: () => remote.resetAll(targets),
        answered: () => undefined,
        fallback: () => owed.addResets(targets),
      })
      return
    }
    for (const adjustment of owed.takeAdjustments(AT_ONCE, now)) {
      send(new PendingAdjustment(parts, adjustment, () => undefined))
    }
  }
}
