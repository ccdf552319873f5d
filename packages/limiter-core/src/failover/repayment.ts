import type { Clock } from '../contracts.ts'
import type { Call, GuardedCalls } from './guarded-calls.ts'
import type { OwedAdjustment } from './owed-calls.ts'
import { PendingAdjustment } from './pending-adjustment.ts'
import type { PendingTakeDeps } from './pending-take.ts'

/** Adjustments that are sent at once. */
const AT_ONCE = 128
/** After one failed. */
const AGAIN_MS = 1_000

/** Applies owed calls once a backend answers again: first all resets, then the adjustments in parts. */
export class Repayment {
  readonly #parts: PendingTakeDeps
  readonly #calls: GuardedCalls
  readonly #clock: Clock

  constructor(parts: PendingTakeDeps, calls: GuardedCalls, clock: Clock) {
    this.#parts = parts
    this.#calls = calls
    this.#clock = clock
  }

  /** Starts unless it is already running or the backend is not called at the moment. Each reply continues it. */
  begin(): void {
    const { owed, breaker } = this.#parts.health
    const now = this.#clock.now()
    if (owed.underWay > 0 || breaker.state !== 'closed' || now < owed.pausedUntil) return
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
      ruled: () => health.owed.addResets(targets),
    })
  }

  #adjust(adjustment: OwedAdjustment): void {
    this.#call(new PendingAdjustment(this.#parts, adjustment, () => undefined))
  }

  #call<T, R>(call: Call<T, R>): void {
    const { owed } = this.#parts.health
    owed.underWay++
    this.#calls.callUnawaited<T, R>({
      operation: call.operation,
      send: (limits, now) => call.send(limits, now),
      answered: (answer, now) => {
        const worth = call.answered(answer, now)
        owed.underWay--
        return worth
      },
      ruled: (now, basis) => {
        owed.underWay--
        owed.pausedUntil = now + AGAIN_MS
        return call.ruled(now, basis)
      },
    })
  }
}
