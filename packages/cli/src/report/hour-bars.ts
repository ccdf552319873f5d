import { hourText } from './number-text.ts'
import type { HourReport } from './replay-report.ts'
import type { Bar } from './svg-charts.ts'

const MOST_BARS = 168
const HOUR_MS = 3_600_000

/** Returns at most a week of bars: one for each hour, or for equal spans of several hours. */
export function hourBars(hours: readonly HourReport[]): readonly Bar[] {
  if (hours.length === 0) return []
  const startsAt = Date.parse(hours[0].at)
  const length = (Date.parse(hours[hours.length - 1].at) - startsAt) / HOUR_MS + 1
  const span = Math.ceil(length / MOST_BARS)
  const bars = Array.from({ length: Math.ceil(length / span) }, (_, at) => {
    return { label: hourText(new Date(startsAt + at * span * HOUR_MS).toISOString()), value: 0, part: 0 }
  })
  for (const { at, requests, denied } of hours) {
    const bar = bars[Math.floor((Date.parse(at) - startsAt) / (span * HOUR_MS))]
    bar.value += requests
    bar.part += denied
  }
  return bars
}
