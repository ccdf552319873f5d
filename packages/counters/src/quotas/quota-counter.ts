import type { Answer, Backend, CompiledPolicy, CountedKey, PolicyCalendar } from '@sluice/limiter-core/backend'
import { PlainCounter } from '@sluice/limiter-core/backend'
import type { AccountId } from '../ledger/quota-table.ts'
import { CalendarPeriods } from './calendar-periods.ts'
import type { QuotaTerms } from './quota-account.ts'
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
