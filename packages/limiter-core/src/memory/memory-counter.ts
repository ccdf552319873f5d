import type { Answer, CompiledPolicy, CountedKey, Counter, Moment } from '../contracts.ts'
import type { SoleDecision } from '../decision/sole-decision.ts'
import type { CounterSlots } from './count-table.ts'

/** The method of a backend that implements `take` of its counters. */
interface TakeOne {
  takeOne(counter: MemoryCounter, key: string, cost: number, moment?: Moment): SoleDecision
}

/** A policy counted in memory. */
export class MemoryCounter<P extends CompiledPolicy = CompiledPolicy> implements Counter<Answer> {
  readonly compiled: P
  readonly name: string
  readonly slots: CounterSlots
  readonly #backend: TakeOne

  constructor(backend: TakeOne, compiled: P, name: string, slots: CounterSlots) {
    this.compiled = compiled
    this.name = name
    this.slots = slots
    this.#backend = backend
  }

  take(key: string, cost: number, moment?: Moment): SoleDecision {
    return this.#backend.takeOne(this, key, cost, moment)
  }
}

/** Returns the cells of a counter that `MemoryBackend` opened. */
export function slotsOf(counter: CountedKey['counter']): CounterSlots {
  return (counter as MemoryCounter).slots
}
