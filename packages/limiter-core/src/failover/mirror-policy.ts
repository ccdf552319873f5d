import { algorithms } from '../algorithms/index.ts'
import { drainPerMs, policiesOf, retentionMs } from '../algorithms/policy-forms.ts'
import { WrappedPolicy } from '../algorithms/wrapped-policy.ts'
import type { CompiledPolicy, PriorUsage } from '../contracts.ts'
import { type Basis, OwnUnits, type UnreportedUnits } from './own-units.ts'

// cells behind those of the policy: the time of the call whose reply set them, 0 if there was none; the time of the
// reply; those of `OwnUnits`; and, if there are variants, the variant of the plan that the reply was about
const CALLED_AT = 0
const REPLIED_AT = 1
const OWN = 2
const VARIANT = OWN + OwnUnits.cells

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
  readonly #adopter: Pick<CompiledPolicy, 'adopt'> = { adopt: (...answer) => this.#adoptAnswer(...answer) }
  #calledAt = 0
  #owed = 0
  #moved: number | undefined

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
   * Returns an adopter for the reply to a call made at `calledAt` that took `moved` units while `owed` units were
   * outstanding, all in backend units. It is valid until the next call of this method. `moved` is undefined if the
   * reported usage does not show whether unanswered calls were counted.
   */
  adopterOf(calledAt: number, owed: number, moved?: number): Pick<CompiledPolicy, 'adopt'> {
    this.#calledAt = calledAt
    this.#owed = owed
    this.#moved = moved
    return this.#adopter
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
    return { used: mayBeGone ? counted : 0, resetAfterMs, ageMs, replyAgeMs, admitted }
  }

  /** Forgets units that were admitted before the key became unused. */
  #forgetIfFresh(cells: Float64Array, at: number, now: number): void {
    if (this.keptMs(cells, at, now) === 0) this.own.forget(cells, at)
  }

  #adoptAnswer(cells: Float64Array, at: number, now: number, used: number, resetAfterMs: number): void {
    // the backend's answer includes, now or soon, the units reported by `passed`
    if (this.#usesPassed) this.own.forget(cells, at)
    this.#findCounted(cells, at, now, used)
    const { uncounted, unsure } = this.own.unreported(cells, at, this.#used(cells, at, now))
    this.inner.adopt(cells, at, now, Math.max(0, used + this.#owed), resetAfterMs)
    cells[at + this.first + CALLED_AT] = this.#calledAt
    cells[at + this.first + REPLIED_AT] = now
    if (this.variants) cells[at + this.first + VARIANT] = this.variants.findIndex(({ role }) => role === 'own')
    // add units that the backend has not counted yet
    const units = this.#scaled(uncounted + unsure)
    if (units > 0) this.inner.adjust(cells, at, now, units, now)
  }

  /**
   * Handles the reply to a call that followed unanswered calls. Reported usage that exceeds the earlier usage and the
   * units of this call shows how many units of the unanswered calls were counted.
   */
  #findCounted(cells: Float64Array, at: number, now: number, counted: number): void {
    if (this.#moved === undefined) return
    const used = this.#used(cells, at, now)
    const own = this.own.unreported(cells, at, used)
    if (own.unsure === 0) return
    const units = (counted - this.#countedOf(used, own, this.#owed) - this.#moved) / this.#scale
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
