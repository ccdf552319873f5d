import type { AccountId } from '@sluice/counters/backend'
import { PlainCounter } from '@sluice/fleet/backend'
import type { Answer, Backend, CompiledPolicy, CountedKey, PolicyCalendar } from '@sluice/limiter-core/backend'
import type { QuotaTerms } from './account/quota-account.ts'
import { CalendarPeriods } from './calendar/calendar-periods.ts'
import { storedKey } from './stored-key.ts'

/** The quota of one plan, opened under a counter name. */
export class QuotaCounter extends PlainCounter<Promise<Answer>> {
  readonly terms: QuotaTerms
  /** Units included in each period. */
  readonly limit: number
  readonly #closed: () => void

  constructor(
    backend: Pick<Backend<Promise<Answer>>, 'takeAll'>,
    compiled: CompiledPolicy,
    name: string,
    closed: () => void,
  ) {
    super(backend, compiled, name)
    const calendar = compiled.policy.calendar as PolicyCalendar
    this.terms = { periods: new CalendarPeriods(calendar), carryOver: calendar.carryOver ?? 0 }
    this.limit = compiled.policy.limit
    this.#closed = closed
  }

  close(): void {
    this.#closed()
  }
}

/** Returns the account id of a key. */
export function accountOf({ key, counter }: CountedKey): AccountId {
  return { name: counter.name, key: storedKey(key) }
}
