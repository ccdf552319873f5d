import type { Answer, Backend, Charge, CompiledPolicy, CountedKey, Counter, Moment } from '@sluice/limiter-core'
import { memoryBackend } from '@sluice/limiter-core'
import { type FakeClock, FrontCounters } from '@sluice/testkit'

/**
 * A backend that answers asynchronously and by its own clock, like a backend across a network, and records its calls.
 */
export class PromisedBackend implements Backend<Promise<Answer>> {
  readonly name = 'promised'
  readonly keepsHolds = true
  readonly booksTurns = true
  readonly calls: string[] = []
  /** If set, every call rejects with this error and counts nothing. */
  failure: Error | undefined
  readonly #memory: Backend<Answer>
  readonly #counters: FrontCounters

  constructor(clock: FakeClock) {
    this.#memory = memoryBackend({ clock })
    this.#counters = new FrontCounters(this.#memory)
  }

  open(compiled: CompiledPolicy, name: string): Counter<Promise<Answer>> {
    return this.#counters.open(this, compiled, name)
  }

  async takeAll(charges: readonly Charge[], _moment?: Moment): Promise<Answer> {
    await this.#roundTrip('take')
    return { ...this.#memory.takeAll(this.#counters.behind(charges)), source: 'promised' }
  }

  async peekAll(charges: readonly Charge[], _moment?: Moment): Promise<Answer> {
    await this.#roundTrip('peek')
    return { ...this.#memory.peekAll(this.#counters.behind(charges)), source: 'promised' }
  }

  async adjustAll(charges: readonly Charge[], takenAt: number, _moment?: Moment): Promise<Answer> {
    await this.#roundTrip('adjust')
    return { ...this.#memory.adjustAll(this.#counters.behind(charges), takenAt), source: 'promised' }
  }

  async resetAll(keys: readonly CountedKey[]): Promise<void> {
    await this.#roundTrip('reset')
    return this.#memory.resetAll(this.#counters.behind(keys)) as undefined
  }

  async #roundTrip(call: string): Promise<void> {
    this.calls.push(call)
    await Promise.resolve()
    if (this.failure) throw this.failure
  }
}
