import type { QuotaTable, StoredUsage } from '@sluice/counters/backend'
import { badOption, optionsOf } from '@sluice/limiter-core/backend'
import { stringify } from 'csv-stringify/sync'
import { CalendarPeriods } from './calendar/calendar-periods.ts'
import type { QuotaName } from './open-quotas.ts'
import type { QuotaCounter } from './quota-counter.ts'
import { instantOf } from './quota-options.ts'
import { listedKey, storedKey } from './stored-key.ts'

/** Rows per read and per CSV chunk. */
const PAGE = 1_000
const HOUR_MS = 3_600_000
const BY = ['hour', 'day', 'week', 'month'] as const
const COLUMNS = ['key', 'from', 'until', 'used', 'stranded', 'toppedUp'] as const

export interface UsageOptions extends QuotaName {
  /** First hour, as epoch ms or a `Date` (inclusive). */
  readonly from: number | Date
  /** End of the range, as epoch ms or a `Date` (exclusive). */
  readonly to: number | Date
  /**
   * Length of the reported spans, in the time zone of the quota. The anchor of the quota applies if the length is the
   * quota's own period. Default: `day`.
   */
  readonly by?: (typeof BY)[number] | undefined
}

/** Names of the options in `UsageOptions`, for `optionsOf`. */
const USAGE_OPTIONS = ['policy', 'scope', 'from', 'to', 'by'] as const

/** Usage of one key in one span of time. */
export interface QuotaUsage {
  readonly key: string
  /** Start of the span, in epoch ms. */
  readonly from: number
  /** End of the span (exclusive), in epoch ms. */
  readonly until: number
  /** Units spent, including units beyond the limit. */
  readonly used: number
  /** Units charged for leases that ended without a report. */
  readonly stranded: number
  /** Part of `used` and `stranded` that was paid from top-ups. */
  readonly toppedUp: number
}

/** Usage reports. They read rows of usage, which changes of a plan do not affect. */
export class QuotaReports {
  readonly #table: QuotaTable

  constructor(table: QuotaTable) {
    this.#table = table
  }

  /** Returns spans with usage, ordered by key and time. `key` undefined means all keys. */
  async *usage(counter: QuotaCounter, key: string | undefined, options: UsageOptions): AsyncGenerator<QuotaUsage> {
    const periods = periodsBy(counter, options)
    let sum: QuotaUsage | undefined
    for await (const line of this.#lines(counter.account, key, options)) {
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

  /**
   * Returns the usage of all keys as chunks of CSV (RFC 4180). Keys that a spreadsheet would take for formulas begin
   * with `'`.
   */
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

  /** Returns the usage of a key by hour. */
  async hours(counter: QuotaCounter, key: string, range: UsageOptions): Promise<readonly StoredUsage[]> {
    const lines: StoredUsage[] = []
    for await (const line of this.#lines(counter.account, key, range)) lines.push(line)
    return lines
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

/** Returns validated options. Throws `SLUICE_BAD_OPTION`. */
export function usageOptions(owner: string, options: UsageOptions): UsageOptions {
  const { from, to, by = 'day', ...named } = optionsOf(owner, options, USAGE_OPTIONS)
  if (!BY.includes(by)) throw badOption(`${owner}: by`, by, `one of ${BY.join(', ')}`)
  instantOf(`${owner}: from`, from)
  instantOf(`${owner}: to`, to)
  if (Number(from) > Number(to)) throw badOption(`${owner}: from`, from, 'a time that is not after `to`')
  return { ...named, from, to, by }
}

function periodsBy({ terms, compiled }: QuotaCounter, { by = 'day' }: UsageOptions) {
  const { calendar } = compiled.policy
  const { timeZone = 'UTC' } = calendar ?? {}
  if (by === calendar?.per) return terms.periods
  if (by !== 'hour') return new CalendarPeriods({ per: by, timeZone })
  return { at: (hour: number) => ({ startsAt: hour, endsAt: hourEnd(terms.periods, hour) }) }
}

/** Returns the end of a stored hour, which clocks that are set within it make longer or shorter. */
function hourEnd(periods: QuotaCounter['terms']['periods'], hour: number): number {
  // stored by a process with other time zone data
  if (periods.hourAt(hour) !== hour) return hour + HOUR_MS
  let end = periods.sameHourUntil(hour)
  while (periods.hourAt(end) === hour) end = periods.sameHourUntil(end)
  return end
}

function csvOf(rows: readonly QuotaUsage[]): string {
  const cells = rows.map(({ from, until, ...usage }) => ({
    ...usage,
    from: new Date(from).toISOString(),
    until: new Date(until).toISOString(),
  }))
  return stringify(cells, { columns: [...COLUMNS], escape_formulas: true, record_delimiter: '\r\n' })
}
