import type { InsightSnapshot, ProcessSnapshot } from '../../../live/report/snapshot.ts'
import { element, untrustedText } from '../dom/elements.ts'
import { bytes, count, dateTimeText, duration, milliseconds, timeText, utcText } from '../dom/format.ts'
import { timeElement } from '../dom/moment.ts'
import { section, table } from './table.ts'

/** Returns a table of processes. `isWhole` adds the columns on their health. */
export function processesTable(processes: readonly ProcessSnapshot[], isWhole = false): HTMLElement {
  const rows = processes.map((process) => {
    const { host, pid, version, startedAt, lastAt, uptimeMs, memoryBytes, isSelf } = process
    return [
      element('span', {}, untrustedText(`${host ?? ''} ${pid}`.trim()), isSelf ? ' (self)' : ''),
      element('time', { title: `${dateTimeText(startedAt)}, ${utcText(startedAt)}` }, duration(uptimeMs)),
      timeElement(lastAt, timeText(lastAt)),
      bytes(memoryBytes),
      untrustedText(version),
      ...(isWhole ? [milliseconds(process.lagMs), backendsCell(process)] : []),
    ]
  })
  const columns = ['Process', 'Uptime', 'Last report'].map((label) => ({ label }))
  const numbers = [{ label: 'Memory', isNumber: true }, { label: 'Version' }]
  const health = isWhole ? [{ label: 'Event loop lag', isNumber: true }, { label: 'Backends' }] : []
  return table('Processes', [...columns, ...numbers, ...health], rows, 'No processes.')
}

function backendsCell({ failing }: ProcessSnapshot): HTMLElement {
  if (failing.length === 0) return element('span', { class: 'state ok' }, '✓ OK')
  return element('span', { class: 'state failing' }, '✕ ', untrustedText(failing.join(', ')))
}

export function processesView({ processes, isWholeFleet, unreadMessages }: InsightSnapshot): readonly HTMLElement[] {
  const scope = isWholeFleet
    ? 'Processes that reported in the last 10 s.'
    : 'This process only. Configure a channel to include other processes.'
  const unread =
    unreadMessages === 0
      ? ''
      : ` ${count(unreadMessages)} messages could not be read, for example because of a different version or secret.`
  return [
    section('All processes', element('p', { class: 'quiet' }, `${scope}${unread}`), processesTable(processes, true)),
  ]
}
