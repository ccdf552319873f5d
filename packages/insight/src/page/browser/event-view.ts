import type { InsightSnapshot } from '../../live/snapshot.ts'
import { element, foreign } from './elements.ts'
import { dateTimeText, utcText } from './format.ts'
import { section, table } from './table.ts'

export function eventsView({ events }: InsightSnapshot): readonly HTMLElement[] {
  const rows = events.map(({ at, name, text }) => [
    element('time', { title: utcText(at), datetime: new Date(at).toISOString() }, dateTimeText(at)),
    foreign(name),
    foreign(text),
  ])
  const columns = ['time', 'event', 'what'].map((label) => ({ label }))
  return [section('Events', table('Events', columns, rows, 'Nothing has happened yet.'))]
}
