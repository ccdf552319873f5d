import { badOption, optionsOf } from '@sluice/limiter-core/backend'
import { stringify } from 'csv-stringify/sync'
import type { QuotaTable, StoredUsage } from '../ledger/quota-table.ts'
import { CalendarPeriods } from './calendar-periods.ts'
import type { QuotaCounter } from './quota-counter.ts'
import type { QuotaName } from './quota-counts.ts'
import { instantOf } from './quota-options.ts'
import { listedKey, storedKey } from './stored-key.ts'

/** Lines read at once. */
const PAGE = 1_000
const BY = ['hour', 'day', 'week', 'month'] as const
const COLUMNS = ['key', 'from', 'until', 'used', 'stranded', 'toppedUp'] as const

export interface UsageOptions extends QuotaName {
  /** Epoch ms or a date: hours from this one on. */
  readonly from: number | Date
  /** Epoch ms or a date: hours before this one. */
  readonly to: number | Date
  /** By the time zone of the quota; weeks and months by its anchor where it is one of them. Default: `day`. */
  readonly by?: (typeof BY)[number] | undefined
}

/** The names of `UsageOptions`, for `optionsOf`. */
const USAGE_OPTIONS = ['policy', 'scope', 'from', 'to', 'by'] as const

/** Units of one key in one span of time. */
export interface QuotaUsage {
  readonly key: string
  /** Epoch ms. */
  readonly from: number
  /** Epoch ms: the first instant after it. */
  readonly until: number
  /** Units that were spent, those beyond the limit too. */
  readonly used: number
  /** Units that were charged for leases whose owners never reported. */
  readonly stranded: number
  /** Of both: what top-ups paid for. */
  readonly toppedUp: number
}

/** What was used, from the rows that no change of a plan touches. */
export class QuotaReports {
  readonly #table: QuotaTable

  constructor(table: QuotaTable) {
    this.#table = table
  }

  /** Spans in which something was used, by key and time; `key` undefined: all keys. */
  async *usage(counter: QuotaCounter, key: string | undefined, options: UsageOptions): AsyncGenerator<QuotaUsage> {
    const periods = periodsBy(counter, options)
    let sum: QuotaUsage | undefined
    for await (const line of this.#lines(counter.name, key, options)) {
      const { startsAt: from, endsAt: until } = periods.at(line.hour)
      const lineKey = listedKey(line.key)
      if (sum && (sum.key !== lineKey || sum.from !== from)) yield sum
      const isSame: boolean = sum?.key === lineKey && sum.from === from
      const before: QuotaUsage = isSame && sum ? sum : { key: lineKey, from, until, used: 0, stranded: 0, toppedUp: 0 }
      sum = {
        ...before,
        used: before.used + line.units,
        stranded: before.stranded + line.stranded,
        toppedUp: before.toppedUp + line.toppedUp,
      }
    }
    if (sum) yield sum
  }

  /** The same as CSV (RFC 4180), a part at a time. Keys that a spreadsheet would take for formulas begin with `'`. */
  async *csv(counter: QuotaCounter, options: UsageOptions): AsyncGenerator<string> {
    yield `${COLUMNS.join(',')}\r\n`
    let rows: QuotaUsage[] = []
    for await (const usage of this.usage(counter, undefined, options)) {
      if (rows.push(usage) < PAGE) continue
      yield csvOf(rows)
      rows = []
    }
    if (rows.length > 0) yield csvOf(rows)
  }

  async *#lines(name: string, key: string | undefined, { from, to }: UsageOptions): AsyncGenerator<StoredUsage> {
    const range = { name, key: key === undefined ? undefined : storedKey(key), from: Number(from), until: Number(to) }
    let after: StoredUsage | undefined
    do {
      const page: readonly StoredUsage[] = await this.#table.usage({ ...range, after, limit: PAGE })
      yield* page
      after = page.length === PAGE ? page.at(-1) : undefined
    } while (after)
  }
}

/** Throws `SLUICE_BAD_OPTION`. */
export function usageOptions(owner: string, options: UsageOptions): UsageOptions {
  const { from, to, by = 'day', ...named } = optionsOf(owner, options, USAGE_OPTIONS)
  if (!BY.includes(by)) throw badOption(`${owner}: by`, by, BY.join(', '))
  instantOf(`${owner}: from`, from)
  instantOf(`${owner}: to`, to)
  if (Number(from) > Number(to)) throw badOption(`${owner}: from`, from, '`to` or before it')
  return { ...named, from, to, by }
}

function periodsBy({ terms, compiled }: QuotaCounter, { by = 'day' }: UsageOptions) {
  const { calendar } = compiled.policy
  const { timeZone = 'UTC' } = calendar ?? {}
  if (by === calendar?.per) return terms.periods
  if (by !== 'hour') return new CalendarPeriods({ per: by, timeZone })
  return { at: (hour: number) => ({ startsAt: hour, endsAt: hour + 3_600_000 }) }
}

function csvOf(rows: readonly QuotaUsage[]): string {
  const cells = rows.map(({ from, until, ...usage }) => ({
    ...usage,
    from: new Date(from).toISOString(),
    until: new Date(until).toISOString(),
  }))
  return stringify(cells, { columns: [...COLUMNS], escape_formulas: true, record_delimiter: '\r\n' })
}
