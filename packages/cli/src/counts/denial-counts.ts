import { type CountedKey, SpaceSaving } from '@sluice/sketches'
import { boundedText } from '../log/kept-text.ts'
import type { ClientIds } from './client-ids.ts'
import { ClientUsage } from './client-usage.ts'
import { HourCounts } from './hour-counts.ts'

/** Counters of the most frequent keys. The error of a count is at most one thousandth of all denials. */
const CAPACITY = 1000

/** Requests and denials, of one policy or of all: by client, hour and route. */
export class DenialCounts {
  requests = 0
  denied = 0
  readonly hours: HourCounts = new HourCounts()
  readonly clients: ClientUsage
  readonly #ids: ClientIds
  readonly #keys = new SpaceSaving({ capacity: CAPACITY })
  readonly #routes = new SpaceSaving({ capacity: CAPACITY })

  /** `ids`: the clients of the log. */
  constructor(ids: ClientIds) {
    this.#ids = ids
    this.clients = new ClientUsage(ids)
  }

  allowed(key: string, timeMs: number, used?: number): void {
    this.requests++
    this.hours.add(timeMs, false)
    this.clients.record(key, false, used)
  }

  /** `route`: pattern, or method and path, of the denied request. */
  deny(key: string, timeMs: number, route: string, used?: number): void {
    this.requests++
    this.denied++
    this.hours.add(timeMs, true)
    this.clients.record(key, true, used)
    this.#keys.add(this.#ids.textOf(key))
    // joined to a text of its own, or written in a policy file
    this.#routes.add(boundedText(route))
  }

  /** Returns the keys with the most denials. */
  topKeys(count: number): readonly CountedKey[] {
    return this.#keys.top(count)
  }

  /** Returns the routes with the most denials. */
  topRoutes(count: number): readonly CountedKey[] {
    return this.#routes.top(count)
  }
}
