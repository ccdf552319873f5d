import type { Answer, Backend, Charge, Moment } from '@sluice/limiter-core'
import { memoryBackend } from '@sluice/limiter-core'
import type { FakeClock } from '@sluice/testkit'

/** A backend that answers later and by its own clock, as one behind a network does, and keeps what it was asked. */
export class PromisedBackend implements Backend<Promise<Answer>> {
  readonly name = 'promised'
  readonly calls: string[] = []
  /** Set: every call rejects with it, and counts nothing. */
  failure: Error | undefined
  readonly #memory: Backend<Answer>

  constructor(clock: FakeClock) {
    this.#memory = memoryBackend({ clock })
  }

  async take(charges: readonly Charge[], _moment?: Moment): Promise<Answer> {
    await this.#roundTrip('take')
    return { ...this.#memory.take(charges), source: 'promised' }
  }

  async peek(charges: readonly Charge[], _moment?: Moment): Promise<Answer> {
    await this.#roundTrip('peek')
    return { ...this.#memory.peek(charges), source: 'promised' }
  }

  async adjust(charges: readonly Charge[], takenAt: number, _moment?: Moment): Promise<Answer> {
    await this.#roundTrip('adjust')
    return { ...this.#memory.adjust(charges, takenAt), source: 'promised' }
  }

  async reset(targets: readonly Pick<Charge, 'key' | 'step' | 'count'>[]): Promise<void> {
    await this.#roundTrip('reset')
    return this.#memory.reset(targets) as undefined
  }

  async #roundTrip(call: string): Promise<void> {
    this.calls.push(call)
    await Promise.resolve()
    if (this.failure) throw this.failure
  }
}
