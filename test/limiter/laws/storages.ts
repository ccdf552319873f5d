import { type LeaseTerms, LeasingBackend, MemoryLedger } from '@sluice/fleet/leases'
import { MemorySyncLedger, SyncingBackend, syncTermsOf } from '@sluice/fleet/sync'
import {
  type Answer,
  type Backend,
  type Charge,
  type Clock,
  type CompiledPolicy,
  type CountedKey,
  type Counter,
  type MaybePromise,
  memoryBackend,
} from '@sluice/limiter-core'
import { type FakeClock, FrontCounters } from '@sluice/testkit'
import type { Storage } from './features.ts'

/** A fraction and a duration with which small limits are leased. */
const LEASES: LeaseTerms = { fraction: 0.5, leaseMs: 2_000 }
/** Time after which a late reply arrives: after the deadline of 50 ms. */
export const LATE_MS = 80

/** A clock beside that of the process. It can be set back. */
export class ServerClock implements Clock {
  /** How far it is ahead of the process. */
  aheadMs: number
  readonly #process: FakeClock

  constructor(process: FakeClock, aheadMs: number) {
    this.#process = process
    this.aheadMs = aheadMs
  }

  now(): number {
    return this.#process.now() + this.aheadMs
  }

  wall(): number {
    return this.#process.wall()
  }

  after(ms: number, run: () => void): () => void {
    return this.#process.after(ms, run)
  }
}

/** Counts like `memoryBackend`, across a network: it answers later, by its own clock, and can be unavailable. */
export class ServerBackend implements Backend<Promise<Answer>> {
  readonly name = 'server'
  readonly keepsHolds = true
  readonly booksTurns = true
  state: 'works' | 'fails' | 'late' = 'works'
  readonly #clock: FakeClock
  readonly #memory: Backend<Answer>
  readonly #counters: FrontCounters

  constructor(clock: FakeClock, own: ServerClock, behind: Backend<Answer> = memoryBackend({ clock: own })) {
    this.#clock = clock
    this.#memory = behind
    this.#counters = new FrontCounters(this.#memory)
  }

  open(compiled: CompiledPolicy, name: string): Counter<Promise<Answer>> {
    return this.#counters.open(this, compiled, name)
  }

  takeAll(charges: readonly Charge[]): Promise<Answer> {
    return this.#answer(() => this.#memory.takeAll(this.#counters.behind(charges)))
  }

  peekAll(charges: readonly Charge[]): Promise<Answer> {
    return this.#answer(() => this.#memory.peekAll(this.#counters.behind(charges)))
  }

  adjustAll(charges: readonly Charge[], takenAt: number): Promise<Answer> {
    return this.#answer(() => this.#memory.adjustAll(this.#counters.behind(charges), takenAt))
  }

  async resetAll(keys: readonly CountedKey[]): Promise<void> {
    await undefined
    if (this.state === 'fails') throw new Error('the server is gone')
    this.#memory.resetAll(this.#counters.behind(keys))
  }

  async #answer(call: () => Answer): Promise<Answer> {
    await undefined
    if (this.state === 'fails') throw new Error('the server is gone')
    const answer = { ...call(), source: 'server' }
    if (this.state === 'late') await new Promise<void>((resolve) => this.#clock.after(LATE_MS, resolve))
    return answer
  }
}

/** The storages of one run. */
export class Storages {
  readonly serverClock: ServerClock
  readonly server: ServerBackend
  readonly #clock: FakeClock
  readonly #backends = new Map<Storage, Backend<MaybePromise<Answer>>>()

  constructor(clock: FakeClock, aheadMs: number) {
    this.#clock = clock
    this.serverClock = new ServerClock(clock, aheadMs)
    this.server = new ServerBackend(clock, this.serverClock)
  }

  backendOf(storage: Storage): Backend<MaybePromise<Answer>> {
    const backend = this.#backends.get(storage) ?? this.#make(storage)
    this.#backends.set(storage, backend)
    return backend
  }

  /** The clock by which a storage counts. */
  clockOf(storage: Storage): Pick<Clock, 'now'> {
    return storage === 'server' ? this.serverClock : this.#clock
  }

  async close(): Promise<void> {
    for (const backend of this.#backends.values()) await backend.close?.()
  }

  #make(storage: Storage): Backend<MaybePromise<Answer>> {
    const clock = this.#clock
    if (storage === 'memory') return memoryBackend({ clock })
    if (storage === 'server') return this.server
    if (storage === 'synced') {
      const ledger = new MemorySyncLedger(clock).join()
      const terms = syncTermsOf('synced', { burst: 1, nodes: 1 })
      return new SyncingBackend({ name: 'synced', ledger, terms, rule: { source: 'local' }, clock })
    }
    const ledger = new MemoryLedger('leased', memoryBackend({ clock }), LEASES, () => clock.now())
    return new LeasingBackend({ name: 'leased', exact: ledger, ledger, terms: LEASES, clock })
  }
}
