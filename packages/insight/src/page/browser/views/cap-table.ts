import type { CapSnapshot } from '../../../live/report/cap-snapshot.ts'
import type { PageUpdate } from '../../page-update.ts'
import { capAddress, type Span } from '../dom/address.ts'
import { bar, element, untrustedText } from '../dom/elements.ts'
import { count, milliseconds } from '../dom/format.ts'
import { sparkline } from './sparkline.ts'
import { table } from './table.ts'

/** Returns a table of caps, the fullest first. */
export function capsTable({ caps, history, day }: PageUpdate, span: Span, most: number = caps.length): HTMLElement {
  const chosen = span === 'day' ? day : history
  const fullestFirst = caps.toSorted((a, b) => b.held / b.limit - a.held / a.limit)
  const rows = fullestFirst
    .slice(0, most)
    .map((cap) => [
      element('a', { href: capAddress(cap.name) }, untrustedText(cap.name)),
      element(
        'div',
        {},
        usedPlaces(cap),
        sparkline(chosen.caps.find((each) => each.cap === cap.name)?.values ?? [], cap.limit),
        cap.waiting > 0 ? element('div', { class: 'quiet' }, `${count(cap.waiting)} waiting`) : undefined,
      ),
      count(cap.peak),
      count(cap.denied),
      element('div', {}, milliseconds(cap.holdMs.p99), objectiveNote(cap)),
    ])
  const past = { label: `In flight, ${span === 'day' ? 'last 24 hours' : 'last hour'}` }
  const numbers = ['Max', 'Denied', 'Hold p99'].map((label) => ({ label, isNumber: true }))
  return table('In-flight requests', [{ label: 'Cap' }, past, ...numbers], rows, 'No caps are observed.')
}

/** Returns a bar with the held and the possible permits. */
export function usedPlaces({ held, limit }: CapSnapshot): HTMLElement {
  return element('span', { class: 'used' }, bar(held / limit), `${count(held)} of ${count(limit)}`)
}

function objectiveNote({ objective }: CapSnapshot): HTMLElement | undefined {
  if (!objective) return undefined
  const { quantile, targetMs, measuredMs } = objective
  const isMissed = measuredMs !== null && measuredMs > targetMs
  const text = `p${Math.round(100 * quantile)} ${milliseconds(measuredMs)} of ${milliseconds(targetMs)}`
  return element('div', { class: isMissed ? 'missed' : 'quiet' }, text)
}
