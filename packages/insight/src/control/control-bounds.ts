import type { ControlOptions, LimitBounds } from './control.ts'

/** Bounds for operator changes of limits in this process. */
export class ControlBounds {
  readonly #limits: NonNullable<ControlOptions['limits']>
  readonly #enforce: ReadonlySet<string>

  constructor({ limits = {}, enforce = [] }: ControlOptions) {
    this.#limits = limits
    this.#enforce = new Set(enforce)
  }

  /** Whether operators may enforce a policy that code configures as shadow. */
  mayEnforce(policy: string): boolean {
    return this.#enforce.has(policy)
  }

  /** Returns the bounds of a policy, or undefined if its limit cannot be changed. */
  of(policy: string): LimitBounds | undefined {
    return Object.hasOwn(this.#limits, policy) ? this.#limits[policy] : undefined
  }

  /** Returns the largest limit that operators may set for the policy; undefined if they may set none. */
  largestLimit(policy: string): number | undefined {
    return this.of(policy)?.max
  }

  admits(policy: string, limit: number): boolean {
    const bounds = this.of(policy)
    return bounds !== undefined && limit >= bounds.min && limit <= bounds.max
  }
}
