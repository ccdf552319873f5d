import type { Answer, Charge, CompiledPolicy, Counter, Decision, Moment } from '../contracts.ts'
import type { MemoryCounter } from '../memory/memory-counter.ts'
import type { SyncedPolicy } from './synced-policy.ts'

/** Takes one charge of a shared counter. */
interface TakeOne {
  takeOne(counter: SyncedCounter, key: string, cost: number, moment?: Moment): Decision
}

export type SyncedCharge = Charge<SyncedCounter>

/** A policy that all processes count in one ledger; each process decides by its own knowledge. */
export class SyncedCounter implements Counter<Answer> {
  readonly compiled: CompiledPolicy
  readonly name: string
  /** The local knowledge. */
  readonly local: MemoryCounter<SyncedPolicy>
  readonly #backend: TakeOne
  readonly #closed: (counter: SyncedCounter) => void

  constructor(backend: TakeOne, local: MemoryCounter<SyncedPolicy>, closed: (counter: SyncedCounter) => void) {
    this.compiled = local.compiled.inner
    this.name = local.name
    this.local = local
    this.#backend = backend
    this.#closed = closed
  }

  take(key: string, cost: number, moment?: Moment): Decision {
    return this.#backend.takeOne(this, key, cost, moment)
  }

  close(): void {
    this.#closed(this)
  }
}
