import type { AccountId } from '@sluice/counters/backend'
import { PlainCounter } from '@sluice/fleet/backend'
import {
  type Answer,
  type Backend,
  type CompiledPolicy,
  type CountedKey,
  holdsName,
} from '@sluice/limiter-core/backend'
import type { QuotaTerms } from './account/quota-account.ts'
import { CalendarPeriods } from './calendar/calendar-periods.ts'
import { EndlessPeriod } from './calendar/endless-period.ts'
import { storedKey } from './stored-key.ts'

/** The backend of a counter, with the percentages of the included units at which its quotas write notices. */
export interface QuotaBackend extends Pick<Backend<Promise<Answer>>, 'takeAll'> {
  readonly thresholds: readonly number[]
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
  readonly terms: QuotaTerms
  /** Units included in each period; 0 for a balance. */
  readonly limit: number
  readonly #closed: () => void

  constructor(backend: QuotaBackend, compiled: CompiledPolicy, name: string, closed: () => void) {
    super(backend, compiled, name)
    const { calendar, limit } = compiled.policy
    const layout = compiled.holds ? holdsName(compiled.holds.sliceMs) : ''
    const at = name.lastIndexOf(layout)
    this.account = name.slice(0, at) + name.slice(at + layout.length)
    const periods = calendar ? new CalendarPeriods(calendar) : new EndlessPeriod()
    this.terms = { periods, carryOver: calendar?.carryOver ?? 0, thresholds: backend.thresholds }
    this.limit = calendar ? limit : 0
    this.#closed = closed
  }

  close(): void {
    this.#closed()
  }
}

/** Returns the account id of a key. */
export function accountOf({ key, counter }: CountedKey<QuotaCounter>): AccountId {
  return { name: counter.account, key: storedKey(key) }
}
