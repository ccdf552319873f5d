import type { CapControls } from '@sluice/limiter-core'
import type { ControlledMode } from './control.ts'
import type { StoredControl } from './stored-control.ts'

/** Active changes of one cap in the form that the cap reads. Blocks expire to the millisecond. */
class CapChanges implements CapControls {
  mode: ControlledMode | undefined
  limit: number | undefined
  /** Ends of the blocks by key, in ms since 1970. */
  readonly #blocks = new Map<string, number>()
  readonly #now: () => number

  constructor(now: () => number) {
    this.#now = now
  }

  add({ change, endsAt }: StoredControl): void {
    if (change.action === 'mode') this.mode = change.mode
    else if (change.action === 'limit') this.limit = change.limit
    else if (change.action === 'block')
      this.#blocks.set(change.key, Math.max(endsAt, this.#blocks.get(change.key) ?? 0))
  }

  blockedMs(key: string): number {
    return Math.max(0, (this.#blocks.get(key) ?? 0) - this.#now())
  }
}

/**
 * Returns the changes of each cap by name. `controls` is sorted oldest first: a later mode or limit replaces an earlier
 * one. `now` returns ms since 1970.
 */
export function capChanges(controls: readonly StoredControl[], now: () => number): ReadonlyMap<string, CapControls> {
  const byCap = new Map<string, CapChanges>()
  for (const control of controls) {
    const { cap } = control.change
    if (cap === undefined) continue
    const changes = byCap.get(cap) ?? new CapChanges(now)
    byCap.set(cap, changes)
    changes.add(control)
  }
  return byCap
}
