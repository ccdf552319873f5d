import type { CompiledPolicy } from '@sluice/limiter-core/backend'
import type { KeyState } from './key-state.ts'

/** A key as the requests of a turn change it, before it is written. */
export class WorkingKey {
  readonly name: string
  /** Version of the row on which the decisions are based. */
  readonly version: string
  cells: Float64Array
  resetAt: number
  refundedAt: number
  isChanged = false
  /** Milliseconds for which the row is needed because of a mark. */
  #markedMs = 0
  readonly #policies = new Set<CompiledPolicy>()

  constructor(name: string, { version, cells, resetAt, refundedAt }: KeyState) {
    this.name = name
    this.version = version
    this.cells = cells.slice()
    this.resetAt = resetAt
    this.refundedAt = refundedAt
  }

  /** Whether the key has no row, and no request of this turn has changed it. */
  get isAbsent(): boolean {
    return this.version === '0' && !this.isChanged
  }

  /** Provides the cells of a policy. A count under different limits may have logs of different sizes. */
  use(compiled: CompiledPolicy): void {
    this.#policies.add(compiled)
    if (this.cells.length >= compiled.cells) return
    const larger = new Float64Array(compiled.cells)
    larger.set(this.cells)
    this.cells = larger
  }

  keepAtLeast(ms: number): void {
    this.#markedMs = Math.max(this.#markedMs, ms)
  }

  /** Returns the milliseconds for which the row is needed. */
  lifeMs(now: number): number {
    let longest = this.#markedMs
    for (const compiled of this.#policies) longest = Math.max(longest, keptMs(compiled, this.cells, now))
    return longest
  }

  /** Returns the state that is written, without timestamps that a log no longer contains. */
  stateAs(version: string): KeyState {
    const { resetAt, refundedAt, cells } = this
    const isLog = [...this.#policies].some(({ room }) => room !== undefined)
    return { version, cells: isLog ? cells.slice(0, 1 + cells[0]) : cells, resetAt, refundedAt }
  }
}

/** Returns the milliseconds until the cells hold nothing. */
export function keptMs(compiled: CompiledPolicy, cells: Float64Array, now: number): number {
  return compiled.keptMs?.(cells, 0, now) ?? compiled.resetAfterMs(cells, 0, now)
}
