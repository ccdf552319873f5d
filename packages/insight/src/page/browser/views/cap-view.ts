import type { CapSnapshot, CapTimelineSnapshot, ObjectiveSnapshot } from '../../../live/report/cap-snapshot.ts'
import type { InsightSnapshot } from '../../../live/report/snapshot.ts'
import { PRIORITIES } from '../../../priorities.ts'
import type { PageUpdate } from '../../page-update.ts'
import { wellFormed } from '../dom/address.ts'
import { element, untrustedText } from '../dom/elements.ts'
import { count, milliseconds, percent, rate } from '../dom/format.ts'
import { capsTable, usedPlaces } from './cap-table.ts'
import { controlsTable } from './changes-view.ts'
import { type ChartLine, lineChart } from './line-chart.ts'
import { section, table } from './table.ts'

const REASONS: Readonly<Record<string, string>> = {
  full: 'No free place',
  priority: 'Places needed for more important requests',
  'queue-full': 'No place in the queue',
  timeout: 'Waited too long',
  blocked: 'Key blocked by an operator',
  weight: 'Weight above the limit',
}

export function capsView(update: PageUpdate): readonly HTMLElement[] {
  return [section('All caps', capsTable(update, 'hour'))]
}

/** The page of one cap: its limit, in-flight requests, latency and denials over the last minutes. */
export function capView(update: PageUpdate, name: string): readonly HTMLElement[] {
  const cap = update.caps.find((each) => wellFormed(each.name) === name)
  const heading = element('h2', { class: 'title' }, 'Cap ', untrustedText(name))
  if (cap === undefined) return [heading, element('p', { class: 'empty' }, 'No process reports a cap with this name.')]
  const active = update.controls.filter((entry) => entry.cap === cap.name)
  return [
    heading,
    element('div', { class: 'panel' }, stateText(cap)),
    ...(active.length > 0 ? [section('Active changes', controlsTable(active, false))] : []),
    ...charts(update, cap.name),
    element(
      'div',
      { class: 'columns' },
      section('Permits by priority', prioritiesTable(cap)),
      section('Denied permits by reason', reasonsTable(cap)),
    ),
  ]
}

function stateText(cap: CapSnapshot): HTMLElement {
  const { waiting, holdMs, objective } = cap
  const held = `Permits are held for ${milliseconds(holdMs.p50)} (p50) to ${milliseconds(holdMs.p99)} (p99).`
  const aim = objective ? ` ${objectiveText(objective)}` : ''
  return element('p', {}, 'In flight: ', usedPlaces(cap), ` permits. Waiting: ${count(waiting)}. ${held}${aim}`)
}

function objectiveText({ quantile, targetMs, measuredMs }: ObjectiveSnapshot): string {
  const name = `p${Math.round(100 * quantile)}`
  return `Objective: ${name} within ${milliseconds(targetMs)}; measured: ${milliseconds(measuredMs)}.`
}

function charts({ timeline }: InsightSnapshot, name: string): HTMLElement[] {
  const series = timeline.series.filter(({ cap }) => cap === name)
  const line = (measure: CapTimelineSnapshot['measure'], label: string): ChartLine => {
    return { label, style: measure, values: series.find((each) => each.measure === measure)?.values ?? [] }
  }
  const seconds = timeline.stepMs / 1_000
  const spanMs = timeline.stepMs * Math.max(0, ...series.map(({ values }) => values.length))
  const denied = PRIORITIES.map((priority) => {
    const values = series.find((each) => each.priority === priority)?.values ?? []
    return { label: priority, style: priority, values: values.map((value) => (value ?? 0) / seconds) }
  })
  const places = [line('limit', 'Limit'), line('held', 'In flight'), line('waiting', 'Waiting')]
  const latency = [line('p50', 'p50'), line('p99', 'p99')]
  return [
    section('Limit and in-flight requests', lineChart({ label: 'Requests', spanMs, text: count }, places)),
    section('Latency of permits', lineChart({ label: 'Latency', spanMs, text: milliseconds }, latency)),
    section(
      'Denied permits by priority, per second',
      lineChart({ label: 'Denied permits per second', spanMs, text: rate }, denied),
    ),
  ]
}

function prioritiesTable({ byPriority }: CapSnapshot): HTMLElement {
  const rows = byPriority.map(({ priority, admitted, denied, perSecond }) => [
    priority,
    rate(perSecond.admitted),
    rate(perSecond.denied),
    count(admitted),
    count(denied),
    percent(denied / (admitted + denied)),
  ])
  const labels = ['Admitted/s', 'Denied/s', 'Admitted', 'Denied', 'Share denied']
  const numbers = labels.map((label) => ({ label, isNumber: true }))
  return table('Permits by priority', [{ label: 'Priority' }, ...numbers], rows, 'No permit was requested yet.')
}

function reasonsTable({ byReason }: CapSnapshot): HTMLElement {
  const rows = byReason.map(({ reason, denied }) => [REASONS[reason] ?? untrustedText(reason), count(denied)])
  const columns = [{ label: 'Reason' }, { label: 'Denied', isNumber: true }]
  return table('Denied permits by reason', columns, rows, 'No permit was denied.')
}
