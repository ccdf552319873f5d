import type { LimiterControls, PolicyControl } from '@sluice/limiter-core'
import type { StoredControl } from './stored-control.ts'

interface Block {
  /** Blocked policy; undefined if the key is blocked in all policies. */
  readonly policy: string | undefined
  readonly endsAt: number
}

/** Active changes in the form that limiters read. Blocks expire to the millisecond, other changes at the next tick. */
export class ActiveControls implements LimiterControls {
  readonly policies: Map<string, PolicyControl> = new Map()
  readonly #blocks: Map<string, Block[]> = new Map()
  readonly #now: () => number

  /** `controls` is sorted oldest first. `now` returns ms since 1970. */
  constructor(controls: readonly StoredControl[], now: () => number) {
    this.#now = now
    for (const { change, endsAt } of controls) {
      const { policy } = change
      if (change.cap !== undefined) continue
      if (change.action === 'block') this.#block(change.key, { policy, endsAt })
      else if (policy === undefined) continue
      else if (change.action === 'mode') this.#add(policy, { mode: change.mode })
      else if (change.action === 'limit') this.#add(policy, { limit: change.limit })
    }
  }

  /** Whether no mode, limit or block is set. */
  get isEmpty(): boolean {
    return this.policies.size === 0 && this.#blocks.size === 0
  }

  blockedMs(key: string, policy: string): number {
    const blocks = this.#blocks.get(key)
    if (!blocks) return 0
    const now = this.#now()
    const matching = blocks.filter((block) => block.policy === undefined || block.policy === policy)
    return Math.max(0, ...matching.map(({ endsAt }) => endsAt - now))
  }

  #add(policy: string, control: PolicyControl): void {
    this.policies.set(policy, { ...this.policies.get(policy), ...control })
  }

  #block(key: string, block: Block): void {
    this.#blocks.set(key, [...(this.#blocks.get(key) ?? []), block])
  }
}
