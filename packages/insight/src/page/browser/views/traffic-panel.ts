import type { PageUpdate } from '../../page-update.ts'
import { type Span, spanAddress } from '../dom/address.ts'
import { element } from '../dom/elements.ts'
import { section } from './table.ts'
import { chartLegend, chartTable, trafficOf } from './traffic-chart.ts'

const PERIODS = { hour: 'last hour', day: 'last 24 hours' } as const

/** The panel with the chart of a policy, or of all policies. */
export function trafficPanel(update: PageUpdate, span: Span, policy?: string): HTMLElement {
  const traffic = trafficOf(update, span, policy)
  const host = element('div', {
    id: 'chart',
    class: 'chart',
    role: 'img',
    'data-keep': `${span} of ${policy === undefined ? 'all' : `policy ${policy}`}`,
  })
  return section(
    `Decision rate, ${PERIODS[span]}`,
    spanChoice(span, policy),
    chartLegend(traffic),
    host,
    chartTable(traffic),
  )
}

/** Links, so that the selection is part of the address. */
function spanChoice(chosen: Span, policy: string | undefined): HTMLElement {
  const links = (['hour', 'day'] as const).map((span) => {
    const current = span === chosen ? 'true' : undefined
    const label = PERIODS[span].replace('last', 'Last')
    return element('a', { href: spanAddress(span, policy), 'aria-current': current }, label)
  })
  return element('nav', { class: 'spans', 'aria-label': 'Time range' }, ...links)
}
