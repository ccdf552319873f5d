import type { CapControls, CapHandle } from '@sluice/limiter-core'
import { messageOf } from '@sluice/limiter-core/backend'
import type { InsightPart } from '../insight-part.ts'

/** Maximum number of observed caps. Above it the oldest are dropped. */
const MAX_CAPS = 1_000

/** Caps observed by an insight, at most 1,000. */
export class WatchedCaps implements InsightPart {
  readonly #caps = new Set<CapHandle>()

  capOpened(cap: CapHandle): void {
    this.#caps.add(cap)
    if (this.#caps.size <= MAX_CAPS) return
    const [oldest] = this.#caps
    oldest.control(undefined, this)
    this.#caps.delete(oldest)
  }

  capClosed(cap: CapHandle): void {
    this.#caps.delete(cap)
  }

  has(name: string): boolean {
    return [...this.#caps].some((cap) => cap.name === name)
  }

  /** Returns the number of requests that wait, by the names of the caps. */
  waiting(): Map<string, number> {
    const byName = new Map<string, number>()
    for (const cap of this.#caps) byName.set(cap.name, (byName.get(cap.name) ?? 0) + cap.waiting())
    return byName
  }

  /** Applies changes to all caps. Returns the reasons why limits could not be applied, by cap. */
  applyToAll(changes: ReadonlyMap<string, CapControls>): Map<string, string> {
    return new Map([...this.#caps].flatMap((cap) => [...this.apply(cap, changes)]))
  }

  /** Applies changes to one cap. A limit that it rejects is left out, all other changes are applied. */
  apply(cap: CapHandle, changes: ReadonlyMap<string, CapControls>): Map<string, string> {
    const own = changes.get(cap.name)
    try {
      cap.control(own, this)
      return new Map()
    } catch (error) {
      cap.control(own && { mode: own.mode, blockedMs: (key) => own.blockedMs(key) }, this)
      return new Map([[cap.name, messageOf(error)]])
    }
  }
}
