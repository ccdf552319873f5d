import type { Charge, Decision, Held } from '../../contracts.ts'

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

/**
 * The units of a hold under one policy. A backend that holds units returns them when their time is over. Units that were only taken,
 * because the backend has no holds or because the failure rule decided, must be returned by this process.
 */
export class HeldPolicy {
  readonly #charge: Charge
  readonly #forMs: number
  #held: Held | undefined
  #isSettled = false
  #taken: TakenUnits[] = []
  /** Units that this process has returned because the hold was over; an extension takes them again. */
  #returned = 0

  constructor(charge: Charge, forMs: number) {
    this.#charge = charge
    this.#forMs = forMs
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
    const charge = { ...this.#charge, cost: units + this.#returned }
    if (!charge.counter.compiled.holds) return charge
    const hold = { from: this.#held, forMs: this.#forMs }
    return { ...charge, cost: charge.cost + (this.#held?.units ?? 0), hold }
  }

  /** Records that the charge of `more` units was taken. */
  record(more: number, decision: Decision): void {
    const { verdicts, takenAts, countedEach } = decision
    const at = verdicts.findIndex(({ policy }) => policy.name === this.policy)
    const isTaken = at >= 0 && (!this.#charge.advisory || verdicts.every(({ allowed }) => allowed))
    if (!isTaken) return
    const units = more + this.#returned
    this.#returned = 0
    const takenAt = takenAts?.[at] ?? decision.takenAt
    const counted = countedEach?.[at] ?? decision.counted
    const { holds } = this.#charge.counter.compiled
    if (!holds || !counted) this.#taken.push({ units, takenAt, uncounted: !counted })
    else this.#held = { units: units + (this.#held?.units ?? 0), endsAt: holds.endsAt(takenAt, this.#forMs) }
  }

  get isSettled(): boolean {
    return this.#isSettled
  }

  /** Returns the charges that spend `actual` units and return the rest; none after the first call. */
  settle(actual: number): readonly SettlingCharge[] {
    if (this.#isSettled) return []
    this.#isSettled = true
    const { key, counter, advisory = false } = this.#charge
    const charge = { key, counter, advisory }
    const settling: SettlingCharge[] = []
    let spent = actual
    if (this.#held) {
      const hold = { from: this.#held, forMs: this.#forMs }
      settling.push({ charge: { ...charge, cost: spent, hold }, takenAt: Number.POSITIVE_INFINITY, uncounted: false })
      spent = 0
    }
    for (const { units, ...take } of this.#taken) {
      settling.push({ charge: { ...charge, cost: spent - units }, ...take })
      spent = 0
    }
    if (spent > 0)
      settling.push({ charge: { ...charge, cost: spent }, takenAt: Number.POSITIVE_INFINITY, uncounted: false })
    this.#held = undefined
    this.#taken = []
    return settling
  }

  /** Returns the charges that return the units that were only taken. */
  giveBack(): readonly SettlingCharge[] {
    const { key, counter, advisory = false } = this.#charge
    this.#returned = this.#taken.reduce((sum, { units }) => sum + units, this.#returned)
    const back = this.#taken.map(({ units, ...take }) => ({
      charge: { key, counter, advisory, cost: -units },
      ...take,
    }))
    this.#taken = []
    return back
  }
}
