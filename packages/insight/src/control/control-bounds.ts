import type { ControlOptions, LimitBounds } from './control.ts'

/** Between which limits operators may choose in this process. */
export class ControlBounds {
  readonly #limits: NonNullable<ControlOptions['limits']>

  constructor({ limits = {} }: ControlOptions) {
    this.#limits = limits
  }

  /** Undefined for a policy whose limit cannot be changed. */
  of(policy: string): LimitBounds | undefined {
    return Object.hasOwn(this.#limits, policy) ? this.#limits[policy] : undefined
  }

  admits(policy: string, limit: number): boolean {
    const bounds = this.of(policy)
    return bounds !== undefined && limit >= bounds.min && limit <= bounds.max
  }
}
