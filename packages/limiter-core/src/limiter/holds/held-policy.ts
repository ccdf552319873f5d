import type { Charge, Decision, Held, HoldChange } from '../../contracts.ts'
import { takenAtOf, verdictOf, wasCounted } from '../../decision/taken-charges.ts'

/** Units of one policy that were taken, and not held: they are refunded later. */
interface TakenUnits {
  readonly units: number
  readonly takenAt: number
  /** Whether the failure rule decided the take, so that the backend has not counted it. */
  readonly uncounted: boolean
}

/** A charge that settles units at the time of their take. */
export interface SettlingCharge {
  readonly charge: Charge
  readonly takenAt: number
  readonly uncounted: boolean
}

const NONE: readonly [] = []

/** Returns a charge that spends units now, and belongs to no take. */
function now(charge: Charge): SettlingCharge {
  return { charge, takenAt: Number.POSITIVE_INFINITY, uncounted: false }
}

/**
 * The units of a hold under one policy. A backend that holds units returns them when their time is over. Units that were
 * only taken, because the backend has no holds or because the failure rule decided, must be returned by this process.
 */
export class HeldPolicy {
  readonly #charge: Charge
  readonly #forMs: number
  /** The charge on the counter of the limit that applied to the last take. */
  #last: Charge
  #held: Held | undefined
  /** Whether the policy has decided about the work: not if it was off. */
  #hasDecided = false
  #isSettled = false
  #taken: readonly TakenUnits[] = NONE
  /** Units that this process has returned because the hold was over; an extension takes them again. */
  #returned = 0

  constructor(charge: Charge, forMs: number) {
    this.#charge = charge
    this.#forMs = forMs
    this.#last = charge
  }

  get policy(): string {
    return this.#charge.counter.compiled.policy.name
  }

  /** Whether this process must return the units in time. */
  get mustReturn(): boolean {
    return this.#taken.length > 0
  }

  /** Returns the charge that holds `units` more. */
  more(units: number): Charge {
    const cost = units + this.#returned
    if (!this.#charge.counter.compiled.holds) return of(this.#charge, cost)
    return of(this.#charge, cost + (this.#held?.units ?? 0), { from: this.#held, forMs: this.#forMs })
  }

  /** Records that the charge of `more` units was taken. `charge`: on the counter of the limit that applied. */
  record(more: number, decision: Decision, charge: Charge): void {
    const verdict = verdictOf(decision, charge)
    if (!verdict) return
    this.#hasDecided = true
    this.#last = charge
    // the mode at the time of the take, which an operator may have set
    if (verdict.shadow && !decision.verdicts.every(({ allowed }) => allowed)) return
    const units = more + this.#returned
    this.#returned = 0
    const takenAt = takenAtOf(decision, charge)
    const uncounted = !wasCounted(decision, charge)
    const { holds } = charge.counter.compiled
    if (!holds || uncounted) this.#taken = [...this.#taken, { units, takenAt, uncounted }]
    else this.#held = { units: units + (this.#held?.units ?? 0), endsAt: holds.endsAt(takenAt, this.#forMs) }
  }

  /** The charge as it was configured when the hold was opened. */
  get charge(): Charge {
    return this.#charge
  }

  get isSettled(): boolean {
    return this.#isSettled
  }

  /** Returns the charges that spend `actual` units and return the rest; none after the first call. */
  settle(actual: number): readonly SettlingCharge[] {
    if (this.#isSettled) return NONE
    this.#isSettled = true
    if (!this.#hasDecided) return NONE
    const settling: SettlingCharge[] = []
    let spent = actual
    if (this.#held) {
      settling.push(now(of(this.#last, spent, { from: this.#held, forMs: this.#forMs })))
      spent = 0
    }
    for (const { units, ...take } of this.#taken) {
      settling.push({ charge: of(this.#last, spent - units), ...take })
      spent = 0
    }
    if (spent > 0) settling.push(now(of(this.#last, spent)))
    this.#held = undefined
    this.#taken = NONE
    return settling
  }

  /** Returns the charges that return the units that were only taken. */
  giveBack(): readonly SettlingCharge[] {
    this.#returned = this.#taken.reduce((sum, { units }) => sum + units, this.#returned)
    const back = this.#taken.map(({ units, ...take }) => ({ charge: of(this.#last, -units), ...take }))
    this.#taken = NONE
    return back
  }
}

// names each property: a copy with `...` costs several times as much
function of({ key, counter, advisory }: Charge, cost: number, hold?: HoldChange): Charge {
  return { key, counter, cost, advisory: advisory === true, hold }
}
