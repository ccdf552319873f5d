import type { Answer, CompiledPolicy, Counter, Moment, SoleDecision } from '@sluice/limiter-core/backend'
import type { CounterWindow } from './window-counts.ts'

/** Takes one charge of a counter in sketches. */
interface TakeOne {
  takeOne(counter: SketchCounter, key: string, cost: number, moment?: Moment): SoleDecision
  closeCounter(counter: SketchCounter): void
}

/** A policy counted in sketches. */
export class SketchCounter implements Counter<Answer> {
  readonly compiled: CompiledPolicy
  readonly name: string
  readonly window: CounterWindow
  readonly #backend: TakeOne

  constructor(backend: TakeOne, compiled: CompiledPolicy, name: string, window: CounterWindow) {
    this.compiled = compiled
    this.name = name
    this.window = window
    this.#backend = backend
  }

  take(key: string, cost: number, moment?: Moment): SoleDecision {
    return this.#backend.takeOne(this, key, cost, moment)
  }

  close(): void {
    this.#backend.closeCounter(this)
  }
}
