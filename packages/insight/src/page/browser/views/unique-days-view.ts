import type { UniqueDaySnapshot } from '../../../live/report/snapshot.ts'
import { bar, element } from '../dom/elements.ts'
import { count } from '../dom/format.ts'
import { section, table } from './table.ts'

/** Returns a panel with the unique keys per day, latest first; empty if no store keeps them. */
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
  const columns = [{ label: 'Day (UTC)' }, { label: '' }, { label: 'Unique keys', isNumber: true }]
  return [section('Unique keys per day', table('Unique keys per day', columns, rows, 'No keys counted yet.'))]
}
