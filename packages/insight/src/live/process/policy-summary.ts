import type { Decision, Policy, PolicyCalendar, PolicyVerdict } from '@sluice/limiter-core'
import { boundedKey } from '../../bounded-key.ts'
import { boundedText } from '../../bounded-text.ts'
import type { PolicyReport, ReportedCalendar } from '../report/process-report.ts'
import type { NearestSnapshot } from '../report/snapshot.ts'
import { type KeyNames, TopKeys } from '../report/top-keys.ts'

const NEAREST_MS = 5_000

/** Key that used the largest share of its limit. */
interface NearestKey {
  readonly key: string
  readonly usedShare: number
}

/** Statistics of one policy in this process. */
export class PolicySummary {
  readonly #name: string
  #policy: Policy | undefined
  #shadow = false
  #allowed = 0
  #denied = 0
  #shadowDenied = 0
  #uncounted = 0
  #charged = 0
  #refunded = 0
  readonly #topAllowed = new TopKeys()
  readonly #topDenied = new TopKeys()
  #nearest: NearestKey | undefined
  #nearestBefore: NearestKey | undefined
  #nearestStep = 0

  constructor(name: string) {
    this.#name = boundedText(name)
  }

  get decisions(): number {
    return this.#allowed + this.#denied + this.#shadowDenied
  }

  /** Counts a verdict of this policy, whether or not it is the binding one. */
  decided({ policy, allowed, shadow }: PolicyVerdict, counted: boolean): void {
    this.#policy = policy
    this.#shadow = shadow
    if (allowed) this.#allowed++
    else if (shadow) this.#shadowDenied++
    else this.#denied++
    if (!counted) this.#uncounted++
  }

  /** Counts units charged after their decision; negative for refunds. */
  charged(units: number): void {
    if (units > 0) this.#charged += units
    else this.#refunded -= units
  }

  /**
   * Records the key of a request for which this policy is binding: only then is the key known to belong to this policy.
   */
  bound(key: string, { binding }: Decision): void {
    const top = binding.allowed ? this.#topAllowed : this.#topDenied
    top.add(key)
    const usedShare = 1 - binding.remaining / binding.policy.limit
    if (usedShare > (this.#nearest?.usedShare ?? 0))
      this.#nearest = { key: boundedKey(key), usedShare: Math.min(1, usedShare) }
  }

  advance(at: number): void {
    this.#topAllowed.advance(at)
    this.#topDenied.advance(at)
    const step = Math.floor(at / NEAREST_MS)
    if (step === this.#nearestStep) return
    this.#nearestStep = step
    this.#nearestBefore = this.#nearest
    this.#nearest = undefined
  }

  /** Keys that this process has stored for the policy. */
  *keys(): Iterable<string> {
    yield* this.#topAllowed.keys()
    yield* this.#topDenied.keys()
    for (const nearest of [this.#nearest, this.#nearestBefore]) if (nearest) yield nearest.key
  }

  /** Creates the report, including top keys if `ranked`. */
  report(names: KeyNames, ranked: boolean): PolicyReport {
    const { limit = 0, windowMs = 0, unit = 'requests', calendar } = this.#policy ?? {}
    return {
      name: this.#name,
      limit,
      windowMs,
      unit: boundedText(unit),
      calendar: calendar && reportedCalendar(calendar),
      shadow: this.#shadow,
      counts: [this.#allowed, this.#denied, this.#shadowDenied, this.#uncounted],
      units: [this.#charged, this.#refunded],
      nearest: this.#nearestShown(names),
      ...(ranked && { topAllowed: this.#topAllowed.list(names), topDenied: this.#topDenied.list(names) }),
    }
  }

  #nearestShown(names: KeyNames): NearestSnapshot | undefined {
    const now = this.#nearest
    const before = this.#nearestBefore
    const nearest = (now?.usedShare ?? 0) >= (before?.usedShare ?? 0) ? now : before
    return nearest && { id: names.id(nearest.key), key: names.shown(nearest.key), usedShare: nearest.usedShare }
  }
}

/** Returns a calendar as data: a function cannot be reported. */
function reportedCalendar({ zoneOf, ...calendar }: PolicyCalendar): ReportedCalendar {
  return zoneOf ? { ...calendar, timeZone: 'zone of each key' } : calendar
}
