import { addressKey, addressRules } from '@sluice/limiter-core/http'
import { type AttributeValue, countedMethod } from '@sluice/policies'
import type { LogEntry } from '../log/log-entry.ts'
import type { RouteMatcher } from '../log/route-matcher.ts'

/** Lists contain single addresses. */
const FULL_ADDRESSES = { ipv6Prefix: 128 }
/** Key of requests without an address, as in adapters. */
const NO_ADDRESS = 'no-address'

interface AttributeReads {
  /** Number of requests of which the attribute was read. */
  count: number
  /** Number of these requests without the attribute. */
  missing: number
  /** The request of which it was read last. */
  last: LogEntry | undefined
}

/** The attributes of the request that is replayed, under the names that policies use. */
export class LogRequest {
  /** For how many requests each attribute was read, and how many of them did not have it. */
  readonly reads: Map<string, AttributeReads> = new Map()
  readonly #routes: RouteMatcher
  readonly #fields: ReadonlyMap<string, string>
  #entry: LogEntry | undefined
  #address: string | undefined

  /** `fields`: names of fields in the log, by the attributes that read them. */
  constructor(routes: RouteMatcher, fields: Readonly<Record<string, string>> = {}) {
    this.#routes = routes
    this.#fields = new Map(Object.entries(fields))
  }

  /** Replaces the request. */
  set entry(entry: LogEntry) {
    this.#entry = entry
    this.#address = undefined
  }

  /** Key of the client: its IPv4 address, or the /56 of its IPv6 address. A host name is its own key. */
  get address(): string {
    if (this.#address === undefined) {
      const text = String(this.#field('address') ?? '')
      this.#address = addressKey(text, addressRules()) ?? (text || NO_ADDRESS)
    }
    return this.#address
  }

  /** Address of the client: an IPv6 address completely. Undefined if the line has none, and for a host name. */
  get fullAddress(): string | undefined {
    return addressKey(String(this.#field('address') ?? ''), addressRules(FULL_ADDRESSES))
  }

  /** Pattern of the route, if it is known; otherwise the method and the path. */
  get place(): string {
    return this.#route() ?? `${this.#field('method') ?? '-'} ${this.#field('path') ?? '-'}`
  }

  /** Status of the response; undefined if the log does not have it. */
  get status(): number | undefined {
    const status = Number(this.#field('status') ?? Number.NaN)
    return status >= 100 ? status : undefined
  }

  /** Returns the value of an attribute; undefined if the log does not have it. */
  readonly read = (name: string): AttributeValue | undefined => {
    if (name === 'address') return this.address
    const isRoute = name === 'route' && !this.#fields.has(name)
    const value = isRoute ? (this.#route() ?? this.#field(name)) : this.#field(name)
    this.#count(name, value === undefined)
    return name === 'method' && typeof value === 'string' ? countedMethod(value) : value
  }

  #count(name: string, isMissing: boolean): void {
    let reads = this.reads.get(name)
    if (!reads) {
      reads = { count: 0, missing: 0, last: undefined }
      this.reads.set(name, reads)
    }
    // several policies may read it
    if (reads.last === this.#entry) return
    reads.last = this.#entry
    reads.count++
    if (isMissing) reads.missing++
  }

  #route(): string | undefined {
    return this.#routes.routeOf(asText(this.#field('method')), asText(this.#field('path')))
  }

  #field(name: string): AttributeValue | undefined {
    return this.#entry?.field(this.#fields.size === 0 ? name : (this.#fields.get(name) ?? name))
  }
}

function asText(value: AttributeValue | undefined): string | undefined {
  return value === undefined ? undefined : String(value)
}
