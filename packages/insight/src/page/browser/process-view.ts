import type { InsightSnapshot, ProcessSnapshot } from '../../live/snapshot.ts'
import { element, foreign } from './elements.ts'
import { bytes, count, dateTimeText, duration, milliseconds, timeText, utcText } from './format.ts'
import { moment } from './moment.ts'
import { section, table } from './table.ts'

/** `isWhole`: with how each of them is. */
export function processesTable(processes: readonly ProcessSnapshot[], isWhole = false): HTMLElement {
  const rows = processes.map((process) => {
    const { host, pid, version, startedAt, lastAt, uptimeMs, memoryBytes, isSelf } = process
    return [
      element('span', {}, foreign(`${host ?? ''} ${pid}`.trim()), isSelf ? ' (this one)' : ''),
      element('time', { title: `${dateTimeText(startedAt)}, ${utcText(startedAt)}` }, duration(uptimeMs)),
      moment(lastAt, timeText(lastAt)),
      bytes(memoryBytes),
      foreign(version),
      ...(isWhole ? [milliseconds(process.lagMs), backendsCell(process)] : []),
    ]
  })
  const columns = ['process', 'runs for', 'last heard'].map((label) => ({ label }))
  const numbers = [{ label: 'memory', isNumber: true }, { label: 'version' }]
  const health = isWhole ? [{ label: 'lag', isNumber: true }, { label: 'backends' }] : []
  return table('Processes', [...columns, ...numbers, ...health], rows, 'None.')
}

function backendsCell({ failing }: ProcessSnapshot): HTMLElement {
  if (failing.length === 0) return element('span', { class: 'state ok' }, '✓ all answer')
  return element('span', { class: 'state failing' }, '✕ ', foreign(failing.join(', ')))
}

export function processesView({ processes, isWholeFleet, unreadMessages }: InsightSnapshot): readonly HTMLElement[] {
  const scope = isWholeFleet
    ? 'Every process that was heard of in the last 10 s.'
    : 'This process alone: without a channel it knows of no other.'
  const unread =
    unreadMessages === 0 ? '' : ` ${count(unreadMessages)} messages could not be read, as those of another version.`
  return [
    section('All processes', element('p', { class: 'quiet' }, `${scope}${unread}`), processesTable(processes, true)),
  ]
}
