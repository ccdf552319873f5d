import type { InsightSnapshot } from '../../../live/report/snapshot.ts'
import { untrustedText } from '../dom/elements.ts'
import { timeElement } from '../dom/moment.ts'
import { section, table } from './table.ts'

export function eventsView({ events }: InsightSnapshot): readonly HTMLElement[] {
  const rows = events.map(({ at, name, text }) => [timeElement(at), untrustedText(name), untrustedText(text)])
  const columns = ['Time', 'Event', 'Details'].map((label) => ({ label }))
  return [section('Events', table('Events', columns, rows, 'No events yet.'))]
}
