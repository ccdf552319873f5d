import type { ControlAction, ControlOptions, LimitBounds } from './control.ts'

/** What operators may change in this process. */
export class ControlBounds {
  readonly #limits: NonNullable<ControlOptions['limits']>
  readonly #caps: NonNullable<ControlOptions['caps']>
  readonly #enforce: ReadonlySet<string>

  constructor({ limits = {}, caps = {}, enforce = [] }: ControlOptions) {
    this.#limits = limits
    this.#caps = caps
    this.#enforce = new Set(enforce)
  }

  /** Returns the bounds of the limit of a policy or cap, or undefined if it cannot be changed. */
  of({ policy, cap }: Pick<ControlAction, 'policy' | 'cap'>): LimitBounds | undefined {
    return cap === undefined ? boundsIn(this.#limits, policy) : boundsIn(this.#caps, cap)
  }

  /** Returns the largest limit that operators may set for the policy; undefined if they may set none. */
  largestLimit(policy: string): number | undefined {
    return this.of({ policy })?.max
  }

  admits(change: ControlAction): boolean {
    if (change.action === 'mode') return change.mode !== 'enforce' || this.#mayEnforce(change)
    if (change.action !== 'limit') return true
    const bounds = this.of(change)
    return bounds !== undefined && change.limit >= bounds.min && change.limit <= bounds.max
  }

  /** Whether operators may enforce a policy or cap that code configures as shadow. */
  #mayEnforce({ policy, cap }: ControlAction): boolean {
    return this.#enforce.has(cap ?? policy ?? '')
  }
}

function boundsIn(all: Readonly<Record<string, LimitBounds>>, name: string | undefined): LimitBounds | undefined {
  return name !== undefined && Object.hasOwn(all, name) ? all[name] : undefined
}
