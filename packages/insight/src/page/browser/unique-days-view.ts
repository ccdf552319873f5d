import type { UniqueDaySnapshot } from '../../live/snapshot.ts'
import { bar, element } from './elements.ts'
import { count } from './format.ts'
import { section, table } from './table.ts'

/** Different keys per day, the latest first; empty without a store. */
export function uniqueDays(days: readonly UniqueDaySnapshot[] | undefined): readonly HTMLElement[] {
  if (days === undefined) return []
  const most = Math.max(1, ...days.map((day) => day.count))
  const rows = days
    .toReversed()
    .map((day) => [
      element('time', { datetime: day.date }, day.date),
      bar(day.count / most, 'low'),
      `≈\u00a0${count(day.count)}`,
    ])
  const columns = [{ label: 'day (UTC)' }, { label: '' }, { label: 'keys', isNumber: true }]
  return [section('Different keys by day', table('Different keys by day', columns, rows, 'No day has ended yet.'))]
}
