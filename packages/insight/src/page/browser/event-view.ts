import type { InsightSnapshot } from '../../live/snapshot.ts'
import { untrustedText } from './elements.ts'
import { timeElement } from './moment.ts'
import { section, table } from './table.ts'

export function eventsView({ events }: InsightSnapshot): readonly HTMLElement[] {
  const rows = events.map(({ at, name, text }) => [timeElement(at), untrustedText(name), untrustedText(text)])
  const columns = ['Time', 'Event', 'Details'].map((label) => ({ label }))
  return [section('Events', table('Events', columns, rows, 'No events yet.'))]
}
