import type { AcquireOptions, Cap, Clock, Denial, InflightBackend, MaybePromise, Permit } from '@sluice/limiter-core'
import { ClientUsage } from './client-usage.ts'
import { PrioritizedCap, type QueueOf } from './prioritized-cap.ts'
import type { RejectionThreshold } from './rejection-threshold.ts'

export interface PriorityParts {
  readonly clock: Clock
  readonly threshold: RejectionThreshold
  readonly queueOf: QueueOf | undefined
}

/** The caps that share a threshold, the usage of clients and the size of their queues. */
export class PrioritizedInflight implements InflightBackend {
  readonly isLocal = true
  readonly #parts: PriorityParts
  readonly #usage: ClientUsage
  // by place and name
  readonly #caps = new Map<string, PrioritizedCap>()
  // almost always there is one cap
  #lastCap: Cap | undefined
  #last: PrioritizedCap | undefined
  #isClosed = false

  constructor(parts: PriorityParts) {
    this.#parts = parts
    this.#usage = new ClientUsage(parts.clock)
  }

  /** Whether clients matter: half of the places were held when the last request came, or there was overload lately. */
  get comparesClients(): boolean {
    return this.#last?.comparesClients ?? true
  }

  acquire(key: string, options: AcquireOptions = {}): MaybePromise<Permit | Denial> {
    return this.#of(options.cap).acquire(key, options)
  }

  count(key: string, cap?: Cap): number {
    return this.#of(cap).count(key)
  }

  waiting(cap?: Cap): number {
    return this.#of(cap).waiting
  }

  admitWaiting(cap: Cap, key?: string): void {
    this.#of(cap).admitWaiting(key)
  }

  close(): void {
    this.#isClosed = true
    for (const cap of this.#caps.values()) cap.close()
    this.#usage.close()
  }

  #of(cap: Cap | undefined): PrioritizedCap {
    if (this.#last && cap?.name === this.#lastCap?.name && cap?.place === this.#lastCap?.place) return this.#last
    const id = JSON.stringify([cap?.place, cap?.name])
    const known = this.#caps.get(id)
    const found = known ?? new PrioritizedCap({ ...this.#parts, usage: this.#usage, maxHoldMs: cap?.maxHoldMs })
    if (!known) this.#caps.set(id, found)
    if (this.#isClosed) found.close()
    this.#lastCap = cap
    this.#last = found
    return found
  }
}
