import { count } from '../terminal/figures.ts'
import type { ChangedReport, DiffReport } from './diff-report.ts'
import { hourText, percent, shareOf } from './number-text.ts'
import { clientsText, logText, topTable } from './replay-text.ts'
import { printable } from './safe-text.ts'
import type { TextStyle } from './text-style.ts'
import { textTable } from './text-table.ts'

/** Returns a comparison as text for a terminal. */
export function diffText(report: DiffReport, style: TextStyle): string {
  const { requests, denied, newlyDenied, newlyAdmitted, notes } = report
  const parts = [
    logText(report),
    `Denied before: ${count(denied.before)} of ${count(requests)} requests. Denied after: ${count(denied.after)}.`,
    ...changedText('Newly denied', 'Denied', newlyDenied, report, style),
    ...changedText('Newly admitted', 'Admitted', newlyAdmitted, report, style),
    ...notes.map((note) => `Note: ${printable(note)}`),
  ]
  return `${parts.join('\n\n')}\n`
}

/** `counted`: title of the columns with the number of changed requests. */
function changedText(
  title: string,
  counted: string,
  changed: ChangedReport,
  all: DiffReport,
  style: TextStyle,
): string[] {
  if (changed.requests === 0) return [style.heading(`${title}: none`)]
  const requests = `${count(changed.requests)} requests (${percent(shareOf(changed.requests, all.requests))})`
  const share = percent(shareOf(changed.clients.count, all.clients.count))
  const clients = `${clientsText(changed.clients)} of ${clientsText(all.clients)} clients (${share})`
  const rows = changed.policies.map(({ name, requests: ofPolicy, clients: keys, peakHour }) => [
    printable(name, 40),
    count(ofPolicy),
    clientsText(keys),
    peakHour ? `${hourText(peakHour.at)}: ${count(peakHour.requests)}` : '-',
  ])
  const tables = changed.policies.map(
    ({ name, topKeys }) =>
      `${style.heading(`${title} by ${printable(name, 40)}`)}\n${topTable('Key', topKeys, [], counted)}`,
  )
  return [
    style.heading(`${title}: ${requests} of ${clients}`),
    textTable(['Policy', 'Requests', 'Keys', 'Peak hour (UTC)'], rows),
    ...tables,
    `${style.heading(`${title} by route`)}\n${topTable('Route', changed.topRoutes, [], counted)}`,
  ]
}
