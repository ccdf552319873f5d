import type { Clock, Decision, ObservedRequest, PolicyVerdict } from '@sluice/limiter-core'
import { boundedKey } from '../../bounded-key.ts'
import { boundedText } from '../../bounded-text.ts'
import type { InsightPart } from '../../insight-part.ts'
import { type DenialReport, MAX_DENIALS_OF_KEY, MAX_REPORTED_DENIALS } from '../report/process-report.ts'
import { NO_ROUTE } from '../report/route-table.ts'
import type { DenialSnapshot } from '../report/snapshot.ts'
import type { KeyNames } from '../report/top-keys.ts'

/** Maximum number of recently denied keys. */
const MAX_KEYS = 1_000
/** Maximum number of entries per key. */
const MAX_DENIALS = 20

interface Denial extends DenialSnapshot {
  at: number
  times: number
}

/**
 * Recent denials by policy and route: 20 entries for each of the 1,000 keys denied last, about 3 MB at most. Repeated
 * denials of one key do not evict other keys.
 */
export class RecentDenials implements InsightPart {
  readonly #clock: Clock
  readonly #byKey = new Map<string, Denial[]>()
  readonly #unreported = new Set<string>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  decided(key: string, decision: Decision, request?: ObservedRequest): void {
    const { binding } = decision as Partial<Decision>
    // other policies may use a different key
    if (binding?.allowed === false) this.#add(boundedKey(key), binding, request)
  }

  /** Denials of a key, latest first. */
  of(key: string): DenialSnapshot[] {
    return (this.#byKey.get(boundedKey(key)) ?? []).toSorted((a, b) => b.at - a.at)
  }

  keys(): Iterable<string> {
    return this.#byKey.keys()
  }

  /** Returns the denials of keys denied since the last call: at most 20 keys, the last 3 entries of each. */
  news(names: KeyNames): DenialReport[] {
    const keys = [...this.#unreported]
    this.#unreported.clear()
    return keys.map((key) => ({ id: names.id(key), denials: this.of(key).slice(0, MAX_DENIALS_OF_KEY) }))
  }

  #add(key: string, { policy, shadow }: PolicyVerdict, request: ObservedRequest | undefined): void {
    const denials = this.#byKey.get(key) ?? []
    // move the key to the end: the map is ordered by last denial
    this.#byKey.delete(key)
    this.#byKey.set(key, denials)
    if (this.#byKey.size > MAX_KEYS) {
      const [oldest] = this.#byKey.keys()
      this.#byKey.delete(oldest)
    }
    if (this.#unreported.size < MAX_REPORTED_DENIALS) this.#unreported.add(key)
    const at = this.#clock.wall()
    const route = request?.route ?? NO_ROUTE
    const method = request?.method ?? ''
    const last = denials.find((one) => one.policy === policy.name && one.route === route && one.method === method)
    if (last && last.isShadow === shadow) {
      last.at = at
      last.times++
      return
    }
    if (denials.length >= MAX_DENIALS) denials.shift()
    denials.push({
      at,
      policy: policy.name,
      route: boundedText(route),
      method: boundedText(method),
      isShadow: shadow,
      times: 1,
    })
  }
}
