import type { InsightSnapshot, ProcessSnapshot } from '../../live/snapshot.ts'
import { element, foreign } from './elements.ts'
import { bytes, count, dateTimeText, duration, timeText, utcText } from './format.ts'
import { section, table } from './table.ts'

export function processesTable(processes: readonly ProcessSnapshot[]): HTMLElement {
  const rows = processes.map(({ host, pid, version, startedAt, lastAt, uptimeMs, memoryBytes, isSelf }) => [
    element('span', {}, foreign(`${host ?? ''} ${pid}`.trim()), isSelf ? ' (this one)' : ''),
    element('time', { title: `${dateTimeText(startedAt)}, ${utcText(startedAt)}` }, duration(uptimeMs)),
    element('time', { title: utcText(lastAt) }, timeText(lastAt)),
    bytes(memoryBytes),
    foreign(version),
  ])
  const numbers = [{ label: 'memory', isNumber: true }, { label: 'version' }]
  return table(
    'Processes',
    [{ label: 'process' }, { label: 'runs for' }, { label: 'last heard' }, ...numbers],
    rows,
    'None.',
  )
}

export function processesView({ processes, isWholeFleet, unreadMessages }: InsightSnapshot): readonly HTMLElement[] {
  const scope = isWholeFleet
    ? 'Every process that was heard of in the last 5 s.'
    : 'This process alone: without a channel it knows of no other.'
  const unread =
    unreadMessages === 0 ? '' : ` ${count(unreadMessages)} messages could not be read, as those of another version.`
  return [section('All processes', element('p', { class: 'quiet' }, `${scope}${unread}`), processesTable(processes))]
}
