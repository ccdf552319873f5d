import { type LeaseRequest, MemoryLedger } from '@sluice/fleet/leases'
import { memoryBackend } from '@sluice/limiter-core'
import { algorithms } from '@sluice/limiter-core/backend'
import { FakeClock, NodeClock } from '@sluice/testkit'
import { HeldLease } from '../../../packages/fleet/src/leases/held-lease.ts'
import type { LeasedKey } from '../../../packages/fleet/src/leases/leased-counter.ts'
import type { LeasesSize, LeasesState } from './leases-state.ts'

const TERMS = { leaseMs: 100, fraction: 1 }
/** The ledger holds a lease 5 % longer than its owner. */
const HELD_MS = 105
/** Just above the slowest rate that is permitted. */
const SLOWEST = 1 / 1.0499

interface Process {
  readonly clock: NodeClock
  readonly lease: HeldLease
  awaited: { readonly ask: LeaseRequest; readonly sentAt: number } | undefined
  asks: LeaseRequest[]
  arrived: number
}

/** The code of leases, which follows the events of the model. */
export class LeasesCode {
  readonly #clock = new FakeClock({ nowMs: 1_000 })
  readonly #tickMs: number
  readonly #ledger: MemoryLedger
  readonly #processes: readonly Process[]
  #seq = 0

  constructor({ processes, limit, window, ticks }: LeasesSize) {
    const clock = this.#clock
    this.#tickMs = HELD_MS / ticks
    const isEndless = window === Number.POSITIVE_INFINITY
    const policy = { name: 'model', limit, windowMs: isEndless ? 1e9 : window * this.#tickMs }
    const compiled = isEndless
      ? algorithms['fixed-window'].compile({ ...policy, algorithm: 'fixed-window' })
      : algorithms['sliding-log'].compile({ ...policy, algorithm: 'sliding-log' })
    this.#ledger = new MemoryLedger('ledger', memoryBackend({ clock }), TERMS, () => clock.now())
    const exact = this.#ledger.open(compiled, 'model')
    const key = { key: 'a', counter: { compiled, name: 'model', exact } } as unknown as LeasedKey
    this.#processes = Array.from({ length: processes }, (_, owner) => {
      const own = new NodeClock(clock, SLOWEST)
      return {
        clock: own,
        lease: new HeldLease(key, TERMS, owner + 1, own.now()),
        awaited: undefined,
        asks: [],
        arrived: 0,
      }
    })
  }

  /** Applies an event to the code. Returns the numbers of the code that `expected` returns for the model. */
  apply(event: string, before: LeasesState): readonly unknown[] {
    if (event === 'a tick passes') {
      this.#clock.advance(this.#tickMs)
      return this.#held()
    }
    const at = Number.parseInt(event, 10)
    const process = this.#processes[at]
    const [, seq] = /request (\d+)/.exec(event) ?? []
    const index = before.processes[at].asks.findIndex((ask) => ask.seq === Number(seq))
    if (event.includes('arrives')) return [...this.#arrives(process, index, event), ...this.#held()]
    if (event.includes('keeps')) return [...this.#sends(process, event), ...this.#held()]
    if (event.includes('spends')) process.lease.spend(1)
    else {
      process.awaited = undefined
      this.#dropUseless(process)
      if (event.includes('killed')) process.lease.forget(0)
    }
    return this.#held()
  }

  #held(): readonly number[] {
    return this.#processes.map(({ lease, clock }) => lease.held(clock.now())?.units ?? 0)
  }

  #sends(process: Process, event: string): readonly unknown[] {
    const [keep, want] = [/keeps (\d+)/, /wants (\d+)/].map((number) => Number(number.exec(event)?.[1]))
    const { lease, clock } = process
    if (keep === 0) lease.release()
    const demand = { units: want > 0 ? keep + want : 0, least: 0, most: 0, known: undefined }
    const ask = lease.nextRequest(++this.#seq, clock.now(), demand, false)
    process.awaited = { ask, sentAt: clock.now() }
    process.asks.push(ask)
    return [ask.spent, ask.keep, ask.want]
  }

  #arrives(process: Process, index: number, event: string): readonly unknown[] {
    const ask = process.asks[index]
    const [grant] = this.#ledger.request([ask])
    if (!event.endsWith('again')) process.asks.splice(index, 1)
    process.arrived = Math.max(process.arrived, ask.seq)
    const { awaited, lease, clock } = process
    if (awaited?.ask === ask) {
      if (!event.endsWith('lost')) lease.granted(ask, grant, awaited.sentAt, clock.now())
      process.awaited = undefined
    }
    this.#dropUseless(process)
    return [grant.granted, grant.charged, grant.free]
  }

  /** Drops requests that no longer have effects, as the model does. */
  #dropUseless(process: Process): void {
    process.asks = process.asks.filter((ask) => ask === process.awaited?.ask || ask.seq > process.arrived)
  }
}

/** Returns the numbers of the model that `LeasesCode.apply` returns for the code. */
export function expected(event: string, after: LeasesState, limit: number): readonly unknown[] {
  const held = after.processes.map((one) => (one.left > 0 ? one.held : 0))
  const numbers = /spent (\d+), keeps (\d+), wants (\d+)/.exec(event)
  if (numbers) return [...numbers.slice(1).map(Number), ...held]
  if (!event.includes('arrives')) return held
  const charged = after.charged.reduce((sum, one) => sum + one, 0)
  const leased = after.processes.reduce((sum, { booked }) => sum + booked.units, 0)
  const granted = Number(/granted (\d+)/.exec(event)?.[1])
  return [granted, Math.min(limit, charged), Math.max(0, limit - charged - leased), ...held]
}
