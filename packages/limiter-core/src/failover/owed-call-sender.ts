import type { Clock } from '../contracts.ts'
import type { Call, GuardedCalls } from './guarded-calls.ts'
import type { OwedAdjustment } from './owed-calls.ts'
import { PendingAdjustment } from './pending-adjustment.ts'
import type { PendingTakeDeps } from './pending-take.ts'

/** Number of adjustments per round. */
const AT_ONCE = 128
/** Pause after a failed call, in milliseconds. */
const AGAIN_MS = 1_000

/** Sends owed calls after a backend has recovered: first all resets, then the adjustments in rounds. */
export class OwedCallSender {
  readonly #parts: PendingTakeDeps
  readonly #calls: GuardedCalls
  readonly #clock: Clock

  constructor(parts: PendingTakeDeps, calls: GuardedCalls, clock: Clock) {
    this.#parts = parts
    this.#calls = calls
    this.#clock = clock
  }

  /**
   * Sends the next round, unless one is in progress, the breaker is not closed or a call failed within the last second.
   * Called after each reply of the backend.
   */
  sendNext(): void {
    const { owed, breaker } = this.#parts.health
    const now = this.#clock.now()
    if (owed.inProgress > 0 || breaker.state !== 'closed' || now < owed.pausedUntil) return
    const targets = owed.takeResets()
    if (targets.length > 0) this.#reset(targets)
    else for (const adjustment of owed.takeAdjustments(AT_ONCE, now)) this.#adjust(adjustment)
  }

  #reset(targets: ReturnType<PendingTakeDeps['health']['owed']['takeResets']>): void {
    const { remote, health } = this.#parts
    this.#call({
      operation: 'reset',
      send: () => remote.resetAll(targets),
      answered: () => undefined,
      fallback: () => health.owed.addResets(targets),
    })
  }

  #adjust(adjustment: OwedAdjustment): void {
    this.#call(new PendingAdjustment(this.#parts, adjustment, () => undefined))
  }

  #call<T, R>(call: Call<T, R>): void {
    const { owed } = this.#parts.health
    owed.inProgress++
    this.#calls.callUnawaited<T, R>({
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
}
