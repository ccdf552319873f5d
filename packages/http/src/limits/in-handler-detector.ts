import { warnOnce } from '@sluice/limiter-core/http'
import { createKeyedHash, type KeyedHash } from '@sluice/limiter-core/keyed-hash'
import type { HttpExchange } from '../exchange.ts'
import { rawRequestOf } from '../gates/caps/work-class.ts'
import { weakly } from '../lifecycle/when-collected.ts'

const KEY = Symbol.for('sluice.createdInHandler')
/** Maximum number of places in the code that a process remembers, and of requests that it remembers for each. */
const MAX_PLACES = 1_000
const MAX_REQUESTS = 100

/** The limiters that the same code created while it handled requests. */
interface Place {
  /** Whether one of the limiters checked a later request, so that the code keeps them, for example one per tenant. */
  keepsLimiters: boolean
  /** Hashes of the requests for which a limiter was created. */
  readonly requests: Set<string>
  /** Returns the last detector, until it is garbage-collected. */
  last?: () => object | undefined
}

let hash: KeyedHash | undefined

/**
 * Detects limiters that are created while a request is handled, and not kept. Their counts start empty each time, so
 * they limit nothing. The first sign is a limiter that checks a request in the same turn of the event loop in which it was
 * created. Code that keeps a limiter for each tenant also does so for the first request of a tenant. The second sign is
 * that the same code creates another limiter for an equal request, or after the last one was garbage-collected.
 */
export class InHandlerDetector {
  static #suppressed = false
  /** The calls that led to the creation. */
  readonly #createdBy = String(new Error('created').stack)
  #isNew = true
  #place: Place | undefined
  /** Whether the next check of a request is a sign. Call `recordUse` for it. */
  isWatching: boolean = !InHandlerDetector.#suppressed

  /** Runs `build` without detection, for limiters that are created once, when the first request reaches a route. */
  static suppress<T>(build: () => T): T {
    InHandlerDetector.#suppressed = true
    try {
      return build()
    } finally {
      InHandlerDetector.#suppressed = false
    }
  }

  constructor() {
    // a microtask and not a timer, because fake timers do not affect promises
    Promise.resolve().then(() => {
      this.#isNew = false
      this.isWatching = this.#place !== undefined
    })
  }

  /** Records that the limiter checked a request while `isWatching`. Warns once if the limiters are not kept. */
  recordUse(exchange: HttpExchange<unknown, unknown>): void {
    this.isWatching = this.#isNew
    if (!this.#isNew && this.#place) this.#place.keepsLimiters = true
    if (!this.#isNew || this.#place) return
    this.#place = placeOf(this.#createdBy)
    if (!this.#place || this.#place.keepsLimiters) return
    const { requests, last } = this.#place
    const request = requestHash(exchange)
    const isRepeated = request !== undefined && requests.has(request)
    if (isRepeated || (last && !last())) {
      warnOnce(
        'SLUICE_LIMITER_IN_HANDLER',
        'a limiter was created while a request was handled: its counts start empty each time, so it limits nothing; ' +
          'create limiters once, at startup',
      )
    }
    if (request !== undefined && requests.size < MAX_REQUESTS) requests.add(request)
    this.#place.last = weakly(this)
  }
}

function placeOf(createdBy: string): Place | undefined {
  const home = globalThis as { [KEY]?: Map<string, Place> }
  home[KEY] ??= new Map()
  const known = home[KEY].get(createdBy)
  if (known || home[KEY].size >= MAX_PLACES) return known
  const place = { keepsLimiters: false, requests: new Set<string>() }
  home[KEY].set(createdBy, place)
  return place
}

/**
 * Returns a hash of the URL and the headers of a request: equal requests are of the same tenant. Returns undefined for
 * methods with a body, which may name the tenant, and for calls that are not HTTP requests.
 */
function requestHash(exchange: HttpExchange<unknown, unknown>): string | undefined {
  const { originalUrl, url, headers } = rawRequestOf(exchange.raw)
  if (headers === undefined || !(exchange.method === 'GET' || exchange.method === 'HEAD')) return undefined
  const pairs: Iterable<unknown> = Symbol.iterator in headers ? (headers as Iterable<unknown>) : Object.entries(headers)
  hash ??= createKeyedHash()
  // a server of a test has another port for each request
  const sent = JSON.stringify([...pairs]).replace(/("host","[^"]*?):\d+"/, '$1"')
  const path = (originalUrl ?? url)?.replace(/^(\w+:\/\/[^/]*):\d+/, '$1')
  hash.text(JSON.stringify([exchange.peer, exchange.method, path, sent]))
  return `${hash.low} ${hash.high}`
}
