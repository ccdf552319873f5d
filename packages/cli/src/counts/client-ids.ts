import { createKeyedHash } from '@sluice/limiter-core/keyed-hash'
import { boundedText, keptText } from '../log/kept-text.ts'

/** Receives the ids of clients that leave the sample. */
export interface ClientRecords {
  forget(id: number): void
}

/** Id of clients that are not in the sample. */
export const NOT_SAMPLED = -1

const MOST_CLIENTS = 2 ** 18
const HASHES = 2 ** 32
// not secret: the sample must be the same in every run
const SEED = 'sluice replay samples its clients'

/**
 * Numbers the clients of a log from 0, for all policies together. All clients are kept up to `mostClients`; then a sample
 * by the hash of their keys, which is halved whenever it becomes too large: each client is in the sample with the same
 * probability, with all that it did.
 */
export class ClientIds {
  readonly #ids = new Map<string, number>()
  /** Keys by id. */
  readonly #texts: string[] = []
  readonly #mostClients: number
  readonly #records: ClientRecords[] = []
  readonly #hash = createKeyedHash(Buffer.from(SEED))
  /** Ids of clients that have left the sample. */
  readonly #free: number[] = []
  #next = 0
  #share = 1
  // the policies of a request ask for the same keys
  #lastKey = ''
  #lastId: number | undefined

  constructor(mostClients: number = MOST_CLIENTS) {
    this.#mostClients = mostClients
  }

  /** Part of the clients in the sample: 1 if all of them are, then 1/2, 1/4 and so on. */
  get share(): number {
    return this.#share
  }

  /** Adds records, whose `forget` is called before an id is used for another client. */
  join(records: ClientRecords): void {
    this.#records.push(records)
  }

  /** Returns the id of a client, a new one for a new client; `NOT_SAMPLED` if it is not in the sample. */
  idOf(key: string): number {
    if (this.#lastId !== undefined && key === this.#lastKey) return this.#lastId
    const bounded = boundedText(key)
    const id = this.#ids.get(bounded) ?? this.#added(bounded)
    this.#lastKey = key
    this.#lastId = id
    return id
  }

  /** Returns the id of a client in the sample; `NOT_SAMPLED` for other clients, also for new ones. */
  knownId(key: string): number {
    return this.#ids.get(boundedText(key)) ?? NOT_SAMPLED
  }

  /** Returns the key as a text that is safe to keep. */
  textOf(key: string): string {
    const id = this.idOf(key)
    return id === NOT_SAMPLED ? keptText(key) : this.#texts[id]
  }

  #added(key: string): number {
    if (!this.#isSampled(key)) return NOT_SAMPLED
    const id = this.#free.pop() ?? this.#next++
    const text = keptText(key)
    this.#ids.set(text, id)
    this.#texts[id] = text
    if (this.#ids.size <= this.#mostClients) return id
    this.#halve()
    return this.knownId(key)
  }

  #isSampled(key: string): boolean {
    if (this.#share === 1) return true
    this.#hash.text(key)
    return this.#hash.high >>> 0 < HASHES * this.#share
  }

  #halve(): void {
    this.#share /= 2
    for (const [key, id] of this.#ids) {
      if (this.#isSampled(key)) continue
      this.#ids.delete(key)
      this.#free.push(id)
      for (const records of this.#records) records.forget(id)
    }
  }
}
