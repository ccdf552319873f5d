import type { GuardedCalls } from './guarded-calls.ts'
import type { TakeParts } from './one-take.ts'
import type { OwedAdjustment } from './owed-calls.ts'

/** Adjustments that are sent at once. */
const AT_ONCE = 128

/**
 * Does what a backend is owed, now that it answers: first all resets, then a part of the adjustments at a time. What may
 * have been done is not done again.
 */
export class Repayment {
  readonly #parts: TakeParts
  readonly #calls: GuardedCalls

  constructor(parts: TakeParts, calls: GuardedCalls) {
    this.#parts = parts
    this.#calls = calls
  }

  /** Begins, unless it is under way or the backend is not asked right now; each answer asks for more. */
  begin(): void {
    const { owed, breaker } = this.#parts.health
    if (owed.underWay > 0 || breaker.state !== 'closed') return
    const targets = owed.takeResets()
    if (targets.length > 0) this.#reset(targets)
    else for (const adjustment of owed.takeAdjustments(AT_ONCE)) this.#adjust(adjustment)
  }

  #reset(targets: ReturnType<TakeParts['health']['owed']['takeResets']>): void {
    const { remote, health } = this.#parts
    const { owed } = health
    owed.underWay++
    void this.#calls.call({
      operation: 'reset',
      send: () => remote.reset(targets),
      came: () => {
        owed.underWay--
      },
      ruled: () => {
        owed.underWay--
        owed.addResets(targets)
      },
    })
  }

  #adjust(adjustment: OwedAdjustment): void {
    const { remote, rule, health } = this.#parts
    const { owed } = health
    const { takenAt } = adjustment
    let { charge } = adjustment
    owed.underWay++
    void this.#calls.call({
      operation: 'adjust',
      send: ({ now: asOf }, now) => {
        const known = rule.known(charge, now)
        if (known) charge = { ...charge, known }
        return remote.adjust([charge], takenAt, { now: asOf })
      },
      came: () => {
        owed.underWay--
      },
      ruled: (now, basis) => {
        owed.underWay--
        if (charge.known?.admitted) rule.handBack(charge, charge.known.admitted, now, basis)
        if (basis === 'uncounted') owed.addAdjustment(adjustment)
      },
    })
  }
}
