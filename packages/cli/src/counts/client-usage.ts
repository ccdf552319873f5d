import { HyperLogLog, TDigest } from '@sluice/sketches'
import { boundedText } from '../log/kept-text.ts'
import { type ClientIds, type ClientRecords, NOT_SAMPLED } from './client-ids.ts'

/** Number of clients, and how exact it is. */
export interface ClientCount {
  readonly count: number
  /** Standard error as a share of `count`; 0 for an exact number. */
  readonly error: number
}

/** Precision of the count of clients, 2^14 registers: a standard error of 0.81 %. */
const PRECISION = 14
const COMPRESSION = 1000
const FIRST_ROOM = 1024
const SEED = 'sluice replay counts its clients'

/** What the clients in the sample did: under one policy, or under all. */
export class ClientUsage implements ClientRecords {
  readonly #ids: ClientIds
  readonly #distinct = new HyperLogLog({ precision: PRECISION, seed: Buffer.from(SEED) })
  // by the id of the client
  #busiest = new Float64Array(FIRST_ROOM)
  #requests = new Uint32Array(FIRST_ROOM)
  #denied = new Uint32Array(FIRST_ROOM)

  constructor(ids: ClientIds) {
    this.#ids = ids
    ids.join(this)
  }

  /** Part of the clients that are in the sample. */
  get share(): number {
    return this.#ids.share
  }

  /** Number of different clients. */
  get count(): ClientCount {
    if (this.share === 1) return { count: this.sampled.clients, error: 0 }
    return { count: this.#distinct.count(), error: 1.04 / 2 ** (PRECISION / 2) }
  }

  /** Number of clients in the sample, and of those that were denied at least once. */
  get sampled(): { readonly clients: number; readonly denied: number } {
    let clients = 0
    let denied = 0
    for (let id = 0; id < this.#requests.length; id++) {
      if (this.#requests[id] > 0) clients++
      if (this.#denied[id] > 0) denied++
    }
    return { clients, denied }
  }

  /** Records a request. `used`: units of the client in the current window. */
  record(key: string, isDenied: boolean, used = 0): void {
    const id = this.#ids.idOf(key)
    if (id === NOT_SAMPLED) {
      this.#distinct.add(boundedText(key))
      return
    }
    if (id >= this.#requests.length) this.#grow(id)
    if (this.#requests[id]++ === 0) this.#distinct.add(boundedText(key))
    if (isDenied) this.#denied[id]++
    if (used > this.#busiest[id]) this.#busiest[id] = used
  }

  /** Returns the number of requests of a client; undefined if it is not in the sample. */
  requestsOf(key: string): number | undefined {
    const id = this.#ids.knownId(key)
    return id === NOT_SAMPLED || id >= this.#requests.length ? undefined : this.#requests[id]
  }

  /** Returns the busiest windows of all clients in the sample as a t-digest. */
  busiestWindows(): TDigest {
    const digest = new TDigest({ compression: COMPRESSION })
    for (const [id, requests] of this.#requests.entries()) if (requests > 0) digest.add(this.#busiest[id])
    return digest
  }

  /** Returns the parts of the clients whose busiest window was above a limit, and of the requests that they sent. */
  above(limit: number): { readonly clients: number; readonly requests: number } {
    let all = 0
    let allRequests = 0
    let clients = 0
    let requests = 0
    for (const [id, ofClient] of this.#requests.entries()) {
      if (ofClient === 0) continue
      all++
      allRequests += ofClient
      if (this.#busiest[id] <= limit) continue
      clients++
      requests += ofClient
    }
    return { clients: shareOf(clients, all), requests: shareOf(requests, allRequests) }
  }

  forget(id: number): void {
    if (id >= this.#requests.length) return
    this.#requests[id] = 0
    this.#denied[id] = 0
    this.#busiest[id] = 0
  }

  #grow(id: number): void {
    const room = Math.max(id + 1, this.#requests.length * 2)
    const [busiest, requests, denied] = [this.#busiest, this.#requests, this.#denied]
    this.#busiest = new Float64Array(room)
    this.#requests = new Uint32Array(room)
    this.#denied = new Uint32Array(room)
    this.#busiest.set(busiest)
    this.#requests.set(requests)
    this.#denied.set(denied)
  }
}

function shareOf(part: number, all: number): number {
  return all === 0 ? 0 : part / all
}
