import type { Answer, Charge, CompiledPolicy, Counter, Decision, Moment } from '../contracts.ts'
import type { MemoryCounter } from '../memory/memory-counter.ts'
import type { SyncedPolicy } from './synced-policy.ts'

/** What takes one charge of a counter that all processes share. */
interface TakeOne {
  takeOne(counter: SyncedCounter, key: string, cost: number, moment?: Moment): Decision
}

export type SyncedCharge = Charge<SyncedCounter>

/** One policy of which all processes count in one ledger, and each decides by what it knows of it. */
export class SyncedCounter implements Counter<Answer> {
  readonly compiled: CompiledPolicy
  readonly name: string
  /** What this process knows. */
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
