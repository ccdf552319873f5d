import type { CompiledPolicy, Policy, PolicyVariant } from '../contracts.ts'
import { UsagePolicy } from './usage-policy.ts'

/**
 * A policy that wraps another policy, and adds its cells after the cells of that policy. Methods that a subclass does
 * not replace call the wrapped policy.
 */
export abstract class WrappedPolicy extends UsagePolicy {
  readonly cells: number
  readonly room?: number
  readonly variants: readonly PolicyVariant[] | undefined
  readonly inner: CompiledPolicy
  /** Index of its first cell. */
  protected readonly first: number

  constructor(
    inner: CompiledPolicy,
    ownCells: number,
    policy: Policy = inner.policy,
    capacity: number = inner.capacity,
  ) {
    super(policy, capacity)
    this.first = inner.cells
    this.cells = inner.cells + ownCells
    if (inner.room !== undefined) this.room = inner.room
    this.variants = inner.variants
    this.inner = inner
  }

  spend(cells: Float64Array, at: number, now: number, cost: number): void {
    this.inner.spend(cells, at, now, cost)
  }

  adjust(cells: Float64Array, at: number, now: number, units: number, takenAt: number): number {
    return this.inner.adjust(cells, at, now, units, takenAt)
  }

  resetAfterMs(cells: Float64Array, at: number, now: number): number {
    return this.inner.resetAfterMs(cells, at, now)
  }

  override keptMs(cells: Float64Array, at: number, now: number): number {
    return this.inner.keptMs(cells, at, now)
  }

  adopt(cells: Float64Array, at: number, now: number, used: number, resetAfterMs: number): void {
    this.inner.adopt(cells, at, now, used, resetAfterMs)
  }
}
