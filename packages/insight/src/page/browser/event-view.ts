import type { InsightSnapshot } from '../../live/snapshot.ts'
import { foreign } from './elements.ts'
import { moment } from './moment.ts'
import { section, table } from './table.ts'

export function eventsView({ events }: InsightSnapshot): readonly HTMLElement[] {
  const rows = events.map(({ at, name, text }) => [moment(at), foreign(name), foreign(text)])
  const columns = ['Time', 'Event', 'Details'].map((label) => ({ label }))
  return [section('Events', table('Events', columns, rows, 'No events yet.'))]
}
