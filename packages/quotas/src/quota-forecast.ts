import type { UsageLine } from '@sluice/counters/backend'
import type { QuotaBalance } from './quota-balance.ts'

const HOUR_MS = 3_600_000
/** Older usage says little about the present pace. Only balances that do not renew have older usage. */
const MEASURED_MS = 31 * 24 * HOUR_MS
/** Shortest time over which a key is measured, so that one request does not look like many per second. */
const SHORTEST_MS = 60_000
/** Half of the width of a range that includes 95 % of a normal distribution, in standard deviations of a square root. */
const HALF_WIDTH = 1.96 / 2

/**
 * Forecast of when a key has used all units of its period, at its pace in this period. A time that is not before the
 * end of the period is undefined. All times are epoch ms.
 */
export interface QuotaForecast {
  /** Local date on which the period began, e.g. `2026-11-01`; `2026-11-01.2` if the key had this date in another zone. */
  readonly period: string
  /** End of the period. */
  readonly endsAt: number
  /** Units that can still be spent in this period, also those on lease; without reserved and held units. */
  readonly left: number
  /** Units used per hour since the first hour of the period with usage, or in the last 31 days; 0 without usage. */
  readonly perHour: number
  /** Expected time at which no units are left, now if none are left. Undefined if they last until the period ends. */
  readonly exhaustedAt: number | undefined
  /**
   * Start of the range that contains the exhaustion in about 19 of 20 cases, if usage stays as irregular as it was.
   * Undefined if the units last until the period ends in about 39 of 40 cases.
   */
  readonly earliest: number | undefined
  /** End of the range; undefined if the units may last until the period ends. */
  readonly latest: number | undefined
}

/** What a forecast is computed from. */
export interface MeasuredUsage {
  readonly balance: QuotaBalance
  /** Usage by hour from `measuredFrom`, in any order. */
  readonly lines: readonly UsageLine[]
  readonly now: number
}

/** Returns the start of the time whose usage a forecast needs, in epoch ms. */
export function measuredFrom({ startsAt }: QuotaBalance, now: number): number {
  return Math.max(startsAt, now - MEASURED_MS)
}

/**
 * Returns the forecast of a key. Usage counts as a Poisson process of requests that cost `size` units each, so that both
 * its past and its future are uncertain by the square root of their number of requests.
 */
export function forecastOf({ balance, lines, now }: MeasuredUsage): QuotaForecast {
  const { period, endsAt, available, onLease } = balance
  const left = available + onLease
  const pace = paceOf(lines, now)
  const after = (ms: number): number | undefined => (now + ms < endsAt ? Math.floor(now + ms) : undefined)
  const none = { period, endsAt, left, perHour: pace ? (pace.units * HOUR_MS) / pace.ms : 0 }
  if (left === 0) return { ...none, exhaustedAt: now, earliest: now, latest: now }
  if (!pace) return { ...none, exhaustedAt: undefined, earliest: undefined, latest: undefined }
  const requests = (pace.units * left) / (pace.units + left) / pace.size
  const fastest = (Math.sqrt(requests + 1) + HALF_WIDTH) ** 2 / requests
  const slowest = Math.max(0, Math.sqrt(requests) - HALF_WIDTH) ** 2 / requests
  const expectedMs = (left * pace.ms) / pace.units
  return {
    ...none,
    exhaustedAt: after(expectedMs),
    earliest: after(expectedMs / fastest),
    latest: after(expectedMs / slowest),
  }
}

/** Usage of a key over some time. */
interface Pace {
  readonly units: number
  readonly ms: number
  /** Units of one request, as estimated from how irregular the hours and days are. */
  readonly size: number
}

/** Returns the pace since the first hour with usage; undefined if no units are used, or all were given back. */
function paceOf(lines: readonly UsageLine[], now: number): Pace | undefined {
  const used = lines.filter(({ units, stranded }) => units + stranded !== 0)
  const units = used.reduce((sum, line) => sum + line.units + line.stranded, 0)
  if (units <= 0) return undefined
  const from = used.reduce((first, { hour }) => Math.min(first, hour), now)
  const ms = Math.max(SHORTEST_MS, now - from)
  const hours = spreadOf(used, { from, now, perMs: units / ms, blockMs: HOUR_MS })
  // days show what hours do not: quiet weekends, or growth
  const days = spreadOf(used, { from, now, perMs: units / ms, blockMs: 24 * HOUR_MS })
  // one hour cannot be compared with other hours, so all its usage counts as one request
  const ofHours = (hours.spread + hours.largest) / Math.max(1, hours.count)
  return { units, ms, size: Math.max(1, ofHours, days.spread / Math.max(1, days.count - 1)) }
}

interface Blocks {
  readonly from: number
  readonly now: number
  /** Mean units per millisecond. */
  readonly perMs: number
  readonly blockMs: number
}

/** Returns how far the usage of complete blocks of time is from the mean, and the largest usage of a block. */
function spreadOf(lines: readonly UsageLine[], { from, now, perMs, blockMs }: Blocks) {
  const blocks = new Map<number, number>()
  for (const { hour, units, stranded } of lines) {
    const block = Math.floor((hour - from) / blockMs)
    blocks.set(block, (blocks.get(block) ?? 0) + units + stranded)
  }
  // the current block is not complete, so its usage says nothing about irregularity
  const count = Math.floor((now - from) / blockMs)
  const complete = [...blocks].flatMap(([block, units]) => (block < count ? [units] : []))
  const mean = perMs * blockMs
  const empty = (count - complete.length) * mean
  const spread = complete.reduce((sum, units) => sum + (units - mean) ** 2 / mean, empty)
  return { count, spread, largest: Math.max(...blocks.values()) }
}
