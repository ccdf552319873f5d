import type { PolicyVariant } from '../contracts.ts'
import { UsagePolicy } from './usage-policy.ts'

/**
 * A policy whose plans have different cell layouts. The cells of all variants are stored one after another; a variant
 * that drains has one more cell, with the time when a charge last did not fit completely. Usage under one plan counts
 * in all variants: a take must fit the plan's own variant and the variants of larger plans, and is charged to the other
 * variants without a check. Guarantee: the guarantee of the plan's own policy, for the usage under all plans together.
 *
 * A variant that drains is charged up to `ceiling` units, the largest number that any plan admits at once. Without this
 * bound, a month under a large plan would become a debt of many months under a small plan.
 */
export class CompiledVariants extends UsagePolicy {
  readonly cells: number
  readonly variants: readonly PolicyVariant[]
  override readonly instants: readonly number[] | undefined
  readonly #own: PolicyVariant
  readonly #checked: readonly PolicyVariant[]
  readonly #charged: readonly PolicyVariant[]

  constructor(variants: readonly PolicyVariant[]) {
    const own = variants.find(({ role }) => role === 'own') as PolicyVariant
    super(own.compiled.policy, own.compiled.capacity)
    this.cells = variants.reduce((sum, variant) => sum + cellsOf(variant), 0)
    this.variants = variants
    this.instants = instantsOf(variants)
    this.#own = own
    this.#checked = variants.filter(({ role }) => role !== 'charged')
    this.#charged = variants.filter(({ role }) => role === 'charged')
  }

  waitMs(cells: Float64Array, at: number, now: number, cost: number): number {
    let longest = 0
    for (const variant of this.#checked) {
      longest = Math.max(longest, variant.compiled.waitMs(cells, at + variant.at, now, cost))
    }
    return longest
  }

  spend(cells: Float64Array, at: number, now: number, cost: number): void {
    for (const variant of this.#checked) variant.compiled.spend(cells, at + variant.at, now, cost)
    for (const variant of this.#charged) {
      const fitting = fittingOf(variant, cells, at, now, cost)
      if (fitting > 0) variant.compiled.spend(cells, at + variant.at, now, fitting)
    }
  }

  adjust(cells: Float64Array, at: number, now: number, units: number, takenAt: number): number {
    let moved = 0
    for (const variant of this.#checked) {
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
    for (const variant of this.#checked) {
      least = Math.min(least, variant.compiled.remaining(cells, at + variant.at, now))
    }
    return Math.min(least, this.capacity)
  }

  resetAfterMs(cells: Float64Array, at: number, now: number): number {
    return longestReset(this.#checked, cells, at, now)
  }

  override keptMs(cells: Float64Array, at: number, now: number): number {
    return longestReset(this.variants, cells, at, now)
  }

  /** `used` is in units of the plan's own policy. The other variants are charged the same number of units, now. */
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

/** Returns the indexes of all cells that hold a time; undefined if one of the variants has no `instants`. */
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

/** Returns the units of a charge that fit a charged variant, and records the time if not all of them fit. */
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
  // a cell of 0 means that all charges have fitted
  cells[at + from + compiled.cells] = now || Number.MIN_VALUE
  return room
}

/**
 * Whether a variant may have been charged less than the cost of a take. A refund of the whole cost would then return
 * units that other takes used.
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
