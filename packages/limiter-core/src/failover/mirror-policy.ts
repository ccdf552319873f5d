import { algorithms } from '../algorithms/index.ts'
import { drainPerMs, policiesOf, retentionMs } from '../algorithms/policy-forms.ts'
import { WrappedPolicy } from '../algorithms/wrapped-policy.ts'
import type { CompiledPolicy, PriorUsage } from '../contracts.ts'
import { type Basis, OwnUnits, type UnreportedUnits } from './own-units.ts'

// cells behind those of the policy: the time of the call whose reply set them, 0 if there was none; the time of the
// reply; the held units in the reply; those of `OwnUnits`; and, if there are variants, the variant of the plan that the
// reply was about
const CALLED_AT = 0
const REPLIED_AT = 1
const HELD = 2
const OWN = 3
const VARIANT = OWN + OwnUnits.cells

/** The usage of a key that a backend reported at `now`, in reply to a call made at `calledAt`. */
export interface BufferedAnswer {
  readonly used: number
  /** Part of `used` that is held. */
  readonly held: number
  readonly resetAfterMs: number
  readonly now: number
  readonly calledAt: number
}

// tolerance for rounding errors in a sum of scaled costs, so that the last unit is not denied
const ROUNDING = 1e-12
const EPSILON = 1e-6

/**
 * A policy that counts in this process while its backend does not answer. Its cells are the cells of the policy,
 * followed by cells with the units that the backend has not counted. A share is implemented by scaling costs: with a
 * quarter of the limit, every unit counts as four, so that usage reported by and to the backend needs no conversion.
 */
export class MirrorPolicy extends WrappedPolicy {
  /** Units that the backend admits for an unused key. */
  readonly fullCapacity: number
  /** Milliseconds after which the usage of a key has expired in any case. */
  readonly forgetsMs: number
  /** Basis of the units that are counted next; set before each call. */
  basis: Basis = 'uncounted'
  /** Units that were admitted in this process. */
  readonly own: OwnUnits
  /** Units by which the last adjustment changed a key here; fewer than requested if a log no longer has them. */
  moved = 0
  /** Backend units per local unit. */
  readonly #scale: number
  readonly #whole: boolean
  /** Whether admitted units are reported with `Backend.passed`, so that they must not be reported otherwise. */
  readonly #usesPassed: boolean

  constructor(compiled: CompiledPolicy, share: number, usesPassed = false) {
    const { policy } = compiled
    const limit = part(policy.limit, share)
    const capacity = part(compiled.capacity, share)
    const scale = limit === policy.limit ? 1 : (policy.limit / limit) * (1 - ROUNDING)
    // a small burst would be rounded to more or less than its share, so it is set to what the scaled units need
    const rescaled = scale !== 1 && drainPerMs(policy) > 0 && !compiled.variants
    const burst = (capacity * policy.limit) / limit
    const inner = rescaled ? algorithms[policy.algorithm].compile({ ...policy, burst }) : compiled
    super(inner, inner.variants ? VARIANT + 1 : VARIANT, policy, capacity)
    this.#usesPassed = usesPassed
    this.fullCapacity = compiled.capacity
    this.forgetsMs = retentionMs(compiled)
    this.#scale = scale
    this.own = new OwnUnits(this.first + OWN, scale)
    // an entry of a log is a whole unit
    this.#whole = policiesOf(compiled).some(({ algorithm }) => algorithm === 'sliding-log')
  }

  waitMs(cells: Float64Array, at: number, now: number, cost: number): number {
    return this.inner.waitMs(cells, at, now, this.#scaled(cost))
  }

  override spend(cells: Float64Array, at: number, now: number, cost: number): void {
    this.#forgetIfFresh(cells, at, now)
    this.inner.spend(cells, at, now, this.#scaled(cost))
    this.own.add(cells, at, now, cost, this.basis)
  }

  override adjust(cells: Float64Array, at: number, now: number, units: number, takenAt: number): number {
    this.#forgetIfFresh(cells, at, now)
    // counted units are units of the backend, which are not scaled
    if (this.basis === 'counted') this.moved = this.inner.adjust(cells, at, now, units, takenAt)
    else {
      this.moved = this.inner.adjust(cells, at, now, this.#scaled(units), takenAt) / this.#scale
      // a refund also includes admitted units that have drained since
      this.own.add(cells, at, now, Math.min(this.moved, units), this.basis)
    }
    return this.moved
  }

  remaining(cells: Float64Array, at: number, now: number): number {
    const left = this.inner.remaining(cells, at, now)
    if (this.#scale === 1) return left
    let units = Math.min(this.capacity, Math.floor(left / this.#scale))
    while (units < this.capacity && this.waitMs(cells, at, now, units + 1) === 0) units++
    return units
  }

  override adopt(cells: Float64Array, at: number, now: number, used: number, resetAfterMs: number): void {
    this.inner.adopt(cells, at, now, this.#scaled(used), resetAfterMs)
    cells.fill(0, at + this.first, at + this.cells)
  }

  /**
   * Returns an adopter for the reply to a call that took `moved` units while `owed` units were outstanding, all in
   * backend units. `moved` is undefined if the reported usage does not show whether unanswered calls were counted.
   */
  adopterOf(reply: BufferedAnswer, owed: number, moved?: number): Pick<CompiledPolicy, 'adopt'> {
    return { adopt: (cells, at, now) => this.#adoptReply(cells, at, now, reply, owed, moved) }
  }

  /**
   * Returns the usage of a key that the backend may not have; undefined if there is none. Admitted units are returned
   * once: a caller that cannot report them must pass them to `own.handBack`. `owed`: units by which the local count is
   * ahead of the backend, which has not received an adjustment yet.
   */
  missingUsage(
    cells: Float64Array,
    at: number,
    now: number,
    owed: number,
    mayHaveLost: (calledAt: number) => boolean,
  ): PriorUsage | undefined {
    const used = this.#used(cells, at, now)
    const resetAfterMs = this.inner.resetAfterMs(cells, at, now)
    if (!(used > 0 && resetAfterMs > 0)) return undefined
    const calledAt = cells[at + this.first + CALLED_AT]
    const own = this.own.unreported(cells, at, used)
    const admittedBeside = this.#countedOf(used, own, owed)
    const counted = this.#countedOf(this.#reported(cells, at, now) ?? used, own, owed)
    const mayBeGone = counted > 0 && mayHaveLost(calledAt)
    const admitted = this.#usesPassed ? undefined : this.own.handOut(cells, at, now, own, admittedBeside)
    if (!mayBeGone && !admitted) return undefined
    const ageMs = calledAt === 0 ? Number.POSITIVE_INFINITY : Math.max(0, now - calledAt)
    const replyAgeMs = calledAt === 0 ? ageMs : Math.max(0, now - cells[at + this.first + REPLIED_AT])
    const held = Math.min(counted, cells[at + this.first + HELD])
    return { used: mayBeGone ? counted : 0, held: mayBeGone ? held : 0, resetAfterMs, ageMs, replyAgeMs, admitted }
  }

  /** Forgets units that were admitted before the key became unused. */
  #forgetIfFresh(cells: Float64Array, at: number, now: number): void {
    if (this.keptMs(cells, at, now) === 0) this.own.forget(cells, at)
  }

  #adoptReply(cells: Float64Array, at: number, now: number, reply: BufferedAnswer, owed: number, moved?: number): void {
    const { used, held, resetAfterMs, calledAt } = reply
    // the backend's answer includes, now or soon, the units reported by `passed`
    if (this.#usesPassed) this.own.forget(cells, at)
    if (moved !== undefined) this.#findCounted(cells, at, now, used - moved, owed)
    const { uncounted, unsure } = this.own.unreported(cells, at, this.#used(cells, at, now))
    // held units count as spent here, although only spent ones start a window or drain
    const perMs = held > 0 ? drainPerMs(this.policy) : 0
    const windowMs = held > 0 && held >= used ? this.policy.windowMs : 0
    const lastsMs = Math.max(resetAfterMs, perMs > 0 ? used / perMs : windowMs)
    this.inner.adopt(cells, at, now, Math.max(0, used + owed), lastsMs)
    cells[at + this.first + CALLED_AT] = calledAt
    cells[at + this.first + HELD] = held
    cells[at + this.first + REPLIED_AT] = now
    if (this.variants) cells[at + this.first + VARIANT] = this.variants.findIndex(({ role }) => role === 'own')
    // add units that the backend has not counted yet
    const units = this.#scaled(uncounted + unsure)
    if (units > 0) this.inner.adjust(cells, at, now, units, now)
  }

  /**
   * Handles the reply to a call that followed unanswered calls. `counted`: the reported usage without the units of this
   * call. If it exceeds the earlier usage, units of the unanswered calls were counted.
   */
  #findCounted(cells: Float64Array, at: number, now: number, counted: number, owed: number): void {
    const used = this.#used(cells, at, now)
    const own = this.own.unreported(cells, at, used)
    if (own.unsure === 0) return
    const units = (counted - this.#countedOf(used, own, owed)) / this.#scale
    if (units > 0) this.own.resolve(cells, at, Math.floor(units + EPSILON), true)
  }

  /** Returns the part of the local usage that the backend had reported. */
  #countedOf(used: number, { uncounted, unsure }: UnreportedUnits, owed: number): number {
    return Math.max(0, Math.floor(used - (uncounted + unsure) * this.#scale - owed + EPSILON))
  }

  /** Returns the usage under the plan that the last reply was about; undefined without variants. */
  #reported(cells: Float64Array, at: number, now: number): number | undefined {
    const variant = this.variants?.[cells[at + this.first + VARIANT]]
    return variant && variant.compiled.capacity - variant.compiled.remaining(cells, at + variant.at, now)
  }

  /** Returns the local usage in whole units of the backend. */
  #used(cells: Float64Array, at: number, now: number): number {
    return Math.floor(this.inner.capacity - this.inner.remaining(cells, at, now) + EPSILON)
  }

  #scaled(units: number): number {
    if (this.#scale === 1) return units
    const scaled = units * this.#scale
    return this.#whole ? Math.sign(scaled) * Math.ceil(Math.abs(scaled)) : scaled
  }
}

/** Returns a share of a limit, rounded down to an integer of at least 1. */
function part(units: number, share: number): number {
  return Math.max(1, Math.floor(units * share + EPSILON))
}
