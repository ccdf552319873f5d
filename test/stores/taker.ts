import type { Answer, Backend } from '@sluice/limiter-core'
import { charge, hour } from './bench.ts'

/** Takes of one process. */
export class Taker {
  readonly #backend: Backend<Promise<Answer>>

  constructor(backend: Backend<Promise<Answer>>) {
    this.#backend = backend
  }

  /** Takes `count` times at once, and returns the number of admitted takes. */
  async takeMany(key: string, count: number, limit: number): Promise<number> {
    const policy = { ...hour, limit }
    const takes = Array.from({ length: count }, () => this.#backend.takeAll([charge(this.#backend, 1, key, policy)]))
    return (await Promise.all(takes)).filter(({ verdicts }) => verdicts[0].allowed).length
  }

  /** Takes for `ms` milliseconds with `callers` callers, and returns the number of decisions per second. */
  async rate(keys: number, callers: number, ms: number): Promise<number> {
    const { counter } = charge(this.#backend, 1, '', { ...hour, limit: 1e9 })
    const startedAt = performance.now()
    let decisions = 0
    const caller = async (): Promise<void> => {
      while (performance.now() - startedAt < ms) {
        await this.#backend.takeAll([{ key: `key ${decisions % keys}`, counter, cost: 1 }])
        decisions++
      }
    }
    await Promise.all(Array.from({ length: callers }, caller))
    return Math.round((1_000 * decisions) / (performance.now() - startedAt))
  }
}
