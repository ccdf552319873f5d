import type { ShedSnapshot } from '../../../live/report/cap-snapshot.ts'
import { bar, element, untrustedText } from '../dom/elements.ts'
import { count, percent, rate } from '../dom/format.ts'
import { table } from './table.ts'

/** Returns a table of the policies that shed requests, by priority. */
export function shedTable(sheds: readonly ShedSnapshot[]): HTMLElement {
  const rows = sheds.flatMap((shed) => {
    const classes = shed.byPriority.map(({ priority, perSecond, shed: number }) => [
      untrustedText(shed.policy),
      pressureCell(shed),
      priority,
      rate(perSecond),
      count(number),
    ])
    const shadow = [untrustedText(shed.policy), pressureCell(shed), 'all, in shadow mode', '–', count(shed.shadow)]
    return shed.shadow > 0 ? [...classes, shadow] : classes
  })
  const columns = ['Policy', 'Pressure', 'Priority'].map((label) => ({ label }))
  const numbers = ['Last 10 s', 'Since start'].map((label) => ({ label, isNumber: true }))
  return table('Shed requests', [...columns, ...numbers], rows, 'No requests were shed.')
}

function pressureCell({ pressure, signal }: ShedSnapshot): HTMLElement | string {
  if (pressure === null) return '–'
  const used = element('span', { class: 'used' }, bar(pressure), percent(pressure))
  return element('div', {}, used, element('div', { class: 'quiet' }, untrustedText(signal ?? '')))
}
