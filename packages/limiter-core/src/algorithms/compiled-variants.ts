import type { CompiledPolicy, Policy, PolicyVariant } from '../contracts.ts'

/**
 * A policy whose plans store different kinds of cells. The cells of all variants follow one another; each variant
 * that drains while it is only charged has one more cell with the time when a charge last found no room. Usage under
 * one plan counts in all of them: a take must fit the plan's own variant and the variants of larger plans, and is
 * charged to the others without a check. Guarantee: that of the plan's own policy, over all usage under any plan.
 *
 * A variant that is only charged and drains holds at most `ceiling` units, the most that the largest plan admits at
 * once. Otherwise a month under a large plan would become a debt of months under a small one.
 */
export class CompiledVariants implements CompiledPolicy {
  readonly policy: Policy
  readonly version: number
  readonly cells: number
  readonly capacity: number
  readonly variants: readonly PolicyVariant[]
  readonly instants: readonly number[] | undefined
  readonly #own: PolicyVariant
  readonly #asked: readonly PolicyVariant[]
  readonly #charged: readonly PolicyVariant[]

  constructor(variants: readonly PolicyVariant[]) {
    const own = variants.find(({ role }) => role === 'own') as PolicyVariant
    this.policy = own.compiled.policy
    this.version = own.compiled.version
    this.capacity = own.compiled.capacity
    this.cells = variants.reduce((sum, variant) => sum + cellsOf(variant), 0)
    this.variants = variants
    this.instants = instantsOf(variants)
    this.#own = own
    this.#asked = variants.filter(({ role }) => role !== 'charged')
    this.#charged = variants.filter(({ role }) => role === 'charged')
  }

  waitMs(cells: Float64Array, at: number, now: number, cost: number): number {
    let longest = 0
    for (const variant of this.#asked) {
      longest = Math.max(longest, variant.compiled.waitMs(cells, at + variant.at, now, cost))
    }
    return longest
  }

  spend(cells: Float64Array, at: number, now: number, cost: number): void {
    for (const variant of this.#asked) variant.compiled.spend(cells, at + variant.at, now, cost)
    for (const variant of this.#charged) {
      const fitting = fittingOf(variant, cells, at, now, cost)
      if (fitting > 0) variant.compiled.spend(cells, at + variant.at, now, fitting)
    }
  }

  adjust(cells: Float64Array, at: number, now: number, units: number, takenAt: number): number {
    let moved = 0
    for (const variant of this.#asked) {
      const found = variant.compiled.adjust(cells, at + variant.at, now, units, takenAt)
      if (variant === this.#own) moved = found
    }
    for (const variant of this.#charged) {
      if (units < 0 && mayBeUncharged(variant, cells, at, takenAt)) continue
      const fitting = units > 0 ? fittingOf(variant, cells, at, now, units) : units
      if (fitting !== 0) variant.compiled.adjust(cells, at + variant.at, now, fitting, takenAt)
    }
    return moved
  }

  remaining(cells: Float64Array, at: number, now: number): number {
    let least = Number.POSITIVE_INFINITY
    for (const variant of this.#asked) {
      least = Math.min(least, variant.compiled.remaining(cells, at + variant.at, now))
    }
    return Math.min(least, this.capacity)
  }

  resetAfterMs(cells: Float64Array, at: number, now: number): number {
    return longestReset(this.#asked, cells, at, now)
  }

  keptMs(cells: Float64Array, at: number, now: number): number {
    return longestReset(this.variants, cells, at, now)
  }

  /**
   * The known usage is in units of the plan's own policy. The other variants are assumed to have used as much just
   * now.
   */
  adopt(cells: Float64Array, at: number, now: number, used: number, resetAfterMs: number): void {
    const { compiled, perMs, ceiling } = this.#own
    const longestMs = perMs > 0 ? ceiling / perMs : Number.POSITIVE_INFINITY
    compiled.adopt(cells, at + this.#own.at, now, used, Math.min(resetAfterMs, longestMs))
    for (const variant of this.variants) {
      if (variant === this.#own) continue
      const { capacity } = variant.compiled
      const more = Math.min(used, capacity) - (capacity - variant.compiled.remaining(cells, at + variant.at, now))
      if (more > 0) variant.compiled.spend(cells, at + variant.at, now, more)
    }
  }
}

/**
 * Returns the cells of all variants that hold an instant, including the "no room" times; undefined if any variant has
 * none.
 */
function instantsOf(variants: readonly PolicyVariant[]): readonly number[] | undefined {
  const instants: number[] = []
  for (const { compiled, at, perMs } of variants) {
    if (!compiled.instants) return undefined
    instants.push(...compiled.instants.map((cell) => at + cell))
    if (perMs > 0) instants.push(at + compiled.cells)
  }
  return instants
}

/** Returns the number of cells that a variant occupies. */
export function cellsOf({ compiled, perMs }: Pick<PolicyVariant, 'compiled' | 'perMs'>): number {
  return perMs > 0 ? compiled.cells + 1 : compiled.cells
}

/** Units of a cost for which a variant has room that is charged. Notes when that is not all of them. */
function fittingOf(
  { compiled, at: from, perMs, ceiling }: PolicyVariant,
  cells: Float64Array,
  at: number,
  now: number,
  cost: number,
): number {
  if (perMs === 0) return cost
  const room = Math.max(0, ceiling - compiled.resetAfterMs(cells, at + from, now) * perMs)
  if (cost <= room) return cost
  // 0 is never
  cells[at + from + compiled.cells] = now || Number.MIN_VALUE
  return room
}

/**
 * Whether a take may have been charged less than its cost. Refunding all of it would then return units that other
 * takes used.
 */
function mayBeUncharged(
  { compiled, at: from, perMs }: PolicyVariant,
  cells: Float64Array,
  at: number,
  takenAt: number,
): boolean {
  const fullAt = perMs > 0 ? cells[at + from + compiled.cells] : 0
  return fullAt !== 0 && takenAt <= fullAt
}

function longestReset(variants: readonly PolicyVariant[], cells: Float64Array, at: number, now: number): number {
  let longest = 0
  for (const variant of variants)
    longest = Math.max(longest, variant.compiled.resetAfterMs(cells, at + variant.at, now))
  return longest
}
