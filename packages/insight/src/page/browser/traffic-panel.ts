import type { InsightSnapshot } from '../../live/snapshot.ts'
import { element } from './elements.ts'
import { section } from './table.ts'
import { chartLegend, chartTable, trafficOf } from './traffic-chart.ts'

/** Where the chart of a policy, or of all, is drawn. */
export function trafficPanel(snapshot: InsightSnapshot, policy?: string): HTMLElement {
  const traffic = trafficOf(snapshot, policy)
  const host = element('div', {
    id: 'chart',
    class: 'chart',
    role: 'img',
    'data-keep': policy === undefined ? 'all' : `policy ${policy}`,
  })
  return section('The last hour', chartLegend(traffic), host, chartTable(traffic))
}
