import type {
  Answer,
  Charge,
  CompiledPolicy,
  Counter,
  Decision,
  MemoryCounter,
  Moment,
} from '@sluice/limiter-core/backend'
import type { SyncedPolicy } from './synced-policy.ts'

interface TakeOne {
  takeOne(counter: SyncedCounter, key: string, cost: number, moment?: Moment): Decision
}

export type SyncedCharge = Charge<SyncedCounter>

/** A counter that all processes share in one ledger. Each process decides by its local copy of the counts. */
export class SyncedCounter implements Counter<Answer> {
  readonly compiled: CompiledPolicy
  readonly name: string
  /** The local copy of the counts. */
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
