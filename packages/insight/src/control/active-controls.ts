import type { LimiterControls, PolicyControl } from '@sluice/limiter-core'
import type { StoredControl } from './stored-control.ts'

interface Block {
  /** Undefined: of all policies. */
  readonly policy: string | undefined
  readonly endsAt: number
}

/** The changes that hold, as limiters take them. A block ends to the millisecond, all else with the next tick. */
export class ActiveControls implements LimiterControls {
  readonly policies: Map<string, PolicyControl> = new Map()
  readonly #blocks: Map<string, Block[]> = new Map()
  readonly #now: () => number

  /** `controls`: oldest first. `now`: ms since 1970. */
  constructor(controls: readonly StoredControl[], now: () => number) {
    this.#now = now
    for (const { change, endsAt } of controls) {
      if (change.action === 'mode') this.#add(change.policy, { mode: change.mode })
      else if (change.action === 'limit') this.#add(change.policy, { limit: change.limit })
      else if (change.action === 'block') this.#block(change.key, { policy: change.policy, endsAt })
    }
  }

  /** True where there is nothing to steer. */
  get isEmpty(): boolean {
    return this.policies.size === 0 && this.#blocks.size === 0
  }

  blockedMs(key: string, policy: string): number {
    const blocks = this.#blocks.get(key)
    if (!blocks) return 0
    const now = this.#now()
    const ends = blocks.filter((block) => block.policy === undefined || block.policy === policy)
    return Math.max(0, ...ends.map(({ endsAt }) => endsAt - now))
  }

  #add(policy: string, control: PolicyControl): void {
    this.policies.set(policy, { ...this.policies.get(policy), ...control })
  }

  #block(key: string, block: Block): void {
    this.#blocks.set(key, [...(this.#blocks.get(key) ?? []), block])
  }
}
