import type { AccountId } from '@sluice/counters/backend'
import { PlainCounter } from '@sluice/fleet/backend'
import {
  type Answer,
  type Backend,
  type CompiledPolicy,
  type CountedKey,
  holdsName,
} from '@sluice/limiter-core/backend'
import type { QuotaTerms } from './account/account-periods.ts'
import { CalendarPeriods } from './calendar/calendar-periods.ts'
import { EndlessPeriod } from './calendar/endless-period.ts'
import { KeyZones } from './calendar/key-zones.ts'
import { storedKey } from './stored-key.ts'

/** The backend of a counter, with the percentages of the included units at which its quotas write notices. */
export interface QuotaBackend extends Pick<Backend<Promise<Answer>>, 'takeAll'> {
  readonly thresholds: readonly number[]
  /** Called if the function that returns the time zone of a key fails. */
  readonly zoneFailed: (error: unknown) => void
}

/**
 * The quota of one plan, opened under a counter name. A policy without a calendar is a balance that only top-ups fill,
 * and its limit is ignored.
 */
export class QuotaCounter extends PlainCounter<Promise<Answer>> {
  /**
   * Name of its accounts: the counter name without the layout of holds, which accounts do not have. A quota keeps its
   * accounts if its holds change.
   */
  readonly account: string
  /** Terms of keys of which only the stored form is known. */
  readonly terms: QuotaTerms
  /** Units included in each period; 0 for a balance. */
  readonly limit: number
  readonly #zones: KeyZones | undefined
  readonly #closed: () => void

  constructor(backend: QuotaBackend, compiled: CompiledPolicy, name: string, closed: () => void) {
    super(backend, compiled, name)
    const { calendar, limit } = compiled.policy
    const layout = compiled.holds ? holdsName(compiled.holds.sliceMs) : ''
    const at = name.lastIndexOf(layout)
    this.account = name.slice(0, at) + name.slice(at + layout.length)
    const periods = calendar ? new CalendarPeriods(calendar) : new EndlessPeriod()
    const zoneOf = calendar?.zoneOf
    this.#zones = zoneOf && new KeyZones(calendar, zoneOf, backend.zoneFailed)
    const { thresholds } = backend
    this.terms = { periods, keyZone: this.#zones?.unknown, carryOver: calendar?.carryOver ?? 0, thresholds }
    this.limit = calendar ? limit : 0
    this.#closed = closed
  }

  /** Returns the terms of a key, in its time zone. */
  termsOf(key: string): QuotaTerms {
    return this.#zones ? { ...this.terms, keyZone: this.#zones.of(key) } : this.terms
  }

  close(): void {
    this.#closed()
  }
}

/** Returns the account id of a key. */
export function accountOf({ key, counter }: CountedKey<QuotaCounter>): AccountId {
  return { name: counter.account, key: storedKey(key) }
}
