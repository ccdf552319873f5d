import type { Backend, Clock, Duration, Observer } from '@sluice/limiter-core/backend'
import type { PriceTable } from '../../prices/price-table.ts'
import type { OnExhausted } from './run-options.ts'

/** What the budgets of a run have in common. */
export interface RunContext {
  readonly id: string
  readonly prices: PriceTable | undefined
  readonly onExhausted: OnExhausted
  readonly maxOutputTokens: number
  readonly streamTokens: number
  readonly countTokens: (text: string) => number
  readonly backend: Backend
  /** Clock of the application, if it has passed one; servers have a time of their own. */
  readonly clock: Clock | undefined
  readonly timers: Clock
  readonly deadlineMs: Duration
  readonly holdMs: number
  readonly keepMs: number
  readonly observers: readonly Observer[]
  readonly changes: RunChanges
}

/** Lets calls of a run wait until another call has returned units. */
export class RunChanges {
  /** Number of changes so far. */
  count = 0
  #next: { readonly promise: Promise<void>; readonly resolve: () => void } | undefined

  /** Called when units may have become free. */
  changed(): void {
    this.count++
    this.#next?.resolve()
    this.#next = undefined
  }

  /** Resolves at the next change, or at once if there was one since `count` changes. */
  after(count: number): Promise<void> {
    if (this.count !== count) return Promise.resolve()
    if (!this.#next) {
      let resolve = (): void => {}
      const promise = new Promise<void>((done) => {
        resolve = done
      })
      this.#next = { promise, resolve }
    }
    return this.#next.promise
  }
}
