import type { Answer, CompiledPolicy, CountedKey, Counter, Moment } from '../contracts.ts'
import type { SoleDecision } from '../decision/sole-decision.ts'
import type { RequestDecision } from '../decision/verdict.ts'
import type { CounterSlots } from './count-table.ts'

/** The method of a backend that implements takes of its counters. */
interface TakeOne {
  takeOne(
    counter: MemoryCounter,
    key: string,
    cost: number,
    moment: Moment | undefined,
    isAdvisory: boolean,
  ): SoleDecision | RequestDecision
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
    return this.#backend.takeOne(this, key, cost, moment, false) as SoleDecision
  }

  takeAdvisory(key: string, cost: number, moment?: Moment): SoleDecision | RequestDecision {
    return this.#backend.takeOne(this, key, cost, moment, true)
  }
}

/** Returns the cells of a counter that `MemoryBackend` opened. */
export function slotsOf(counter: CountedKey['counter']): CounterSlots {
  return (counter as MemoryCounter).slots
}
