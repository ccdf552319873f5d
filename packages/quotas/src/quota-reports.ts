import type { QuotaTable, StoredUsage } from '@sluice/counters/backend'
import { badOption, optionsOf } from '@sluice/limiter-core/backend'
import { stringify } from 'csv-stringify/sync'
import { parseState } from './account/quota-state.ts'
import { type CalendarPeriod, CalendarPeriods } from './calendar/calendar-periods.ts'
import type { QuotaName } from './open-quotas.ts'
import type { QuotaCounter } from './quota-counter.ts'
import { instantOf } from './quota-options.ts'
import { keyOf, listedKey, storedKey } from './stored-key.ts'

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
   * Length of the reported spans, in the time zone that the key has now, from `resetAt` to `resetAt`. The anchor of the
   * quota applies if the length is the quota's own period. Default: `day`.
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
    const spansIn = spansBy(counter, options)
    let of: string | undefined
    let spans = spansIn()
    let sum: QuotaUsage | undefined
    for await (const line of this.#lines(counter.account, key, options)) {
      if (of !== line.key) spans = spansIn(await this.#zoneOf(counter, line.key, key))
      of = line.key
      const { startsAt: from, endsAt: until } = spans.at(line.hour)
      const lineKey = listedKey(line.key)
      const isSame = sum?.key === lineKey && sum.from === from
      if (sum && !isSame) yield sum
      sum = added(isSame && sum ? sum : { key: lineKey, from, until, used: 0, stranded: 0, toppedUp: 0 }, line)
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

  /** Returns the time zone of a key, or the zone of its last period. Undefined if all keys have the same zone. */
  async #zoneOf(counter: QuotaCounter, stored: string, key = keyOf(stored)): Promise<string | undefined> {
    const { keyZone } = key === undefined ? counter.terms : counter.termsOf(key)
    if (!keyZone || keyZone.zone !== undefined) return keyZone?.zone
    const { accounts } = await this.#table.read([{ name: counter.account, key: stored }])
    return accounts.map(({ state }) => parseState(state).periods.at(-1)?.zone)[0]
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

/** The spans of a report in one time zone. */
interface Spans {
  at(hour: number): Pick<CalendarPeriod, 'startsAt' | 'endsAt'>
}

/** Returns the spans of a report in a time zone; undefined for the zone of the quota. Zones are kept for other keys. */
function spansBy({ terms, compiled }: QuotaCounter, { by = 'day' }: UsageOptions): (zone?: string) => Spans {
  const { per, timeZone = 'UTC', resetAt } = compiled.policy.calendar ?? {}
  const kept = new Map<string, Spans>()
  const spansIn = (zone: string): Spans => {
    // another process may have stored a zone that this process does not support
    const known = terms.keyZone?.periodsIn(zone)
    const periods = known ?? terms.periods
    if (by === per) return periods
    if (by === 'hour') return { at: (hour) => ({ startsAt: hour, endsAt: hourEnd(periods, hour) }) }
    return new CalendarPeriods({
      per: by,
      timeZone: known ? zone : timeZone,
      ...(resetAt !== undefined && { resetAt }),
    })
  }
  return (zone = timeZone) => {
    const spans = kept.get(zone) ?? spansIn(zone)
    kept.set(zone, spans)
    return spans
  }
}

function added(sum: QuotaUsage, { units, stranded, toppedUp }: StoredUsage): QuotaUsage {
  return {
    ...sum,
    used: sum.used + units,
    stranded: sum.stranded + stranded,
    toppedUp: sum.toppedUp + toppedUp,
  }
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
