import uPlot from 'uplot'
import type { HistorySnapshot, OutcomesSnapshot, SnapshotOutcome } from '../../../live/report/snapshot.ts'
import type { PageUpdate } from '../../page-update.ts'
import type { Span } from '../dom/address.ts'
import { element } from '../dom/elements.ts'
import { minuteText, rate, utcText } from '../dom/format.ts'
import { lengthOf, ratesOf } from '../dom/history.ts'

/** The data of the chart: one policy, or all policies. */
export interface ChartedTraffic {
  readonly span: Span
  readonly history: HistorySnapshot
  readonly policy: string | undefined
  readonly at: number
  /** Decisions per second over the last 10 s. */
  readonly perSecond: OutcomesSnapshot
}

/** Stacked outcomes, from bottom to top. */
const STACKED: readonly { readonly outcome: SnapshotOutcome; readonly label: string }[] = [
  { outcome: 'allowed', label: 'Allowed' },
  { outcome: 'denied', label: 'Denied' },
  { outcome: 'shadowDenied', label: 'Shadow-denied' },
]

const SPANS = {
  hour: { seconds: 3_600, text: 'hour', groups: 5, rows: '5-minute averages' },
  day: { seconds: 86_400, text: '24 hours', groups: 4, rows: 'hourly averages' },
} as const
const HEIGHT = 220
const HATCH = 8

/** Chart of decisions per second over the last hour or day, stacked by outcome. */
export class TrafficChart {
  readonly #plot: uPlot
  readonly #host: HTMLElement
  readonly #resized: ResizeObserver
  readonly #span: Span
  #at = 0

  constructor(host: HTMLElement, span: Span) {
    this.#host = host
    this.#span = span
    this.#plot = new uPlot(this.#options(), [[], [], [], [], []], host)
    this.#resized = new ResizeObserver(() => this.#plot.setSize({ width: host.clientWidth, height: HEIGHT }))
    this.#resized.observe(host)
  }

  get host(): HTMLElement {
    return this.#host
  }

  draw(traffic: ChartedTraffic): void {
    this.#at = traffic.at / 1_000
    const label = `Decisions per second over the last ${SPANS[this.#span].text}, by outcome. ${lastRates(traffic)}`
    if (this.#host.getAttribute('aria-label') !== label) this.#host.setAttribute('aria-label', label)
    this.#plot.setData(pointsOf(traffic))
  }

  remove(): void {
    this.#resized.disconnect()
    this.#plot.destroy()
  }

  #options(): uPlot.Options {
    const color = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim()
    const axis = { stroke: color('--quiet'), grid: { stroke: color('--line'), width: 1 }, ticks: { show: false } }
    const stepped = uPlot.paths.stepped?.({ align: 1 })
    const area = (fill: CanvasPattern | string): uPlot.Series => ({
      ...{ fill, stroke: color('--ground'), width: 1, points: { show: false } },
      ...(stepped === undefined ? {} : { paths: stepped }),
    })
    const uncounted = { stroke: color('--text'), width: 2, dash: [4, 4], points: { show: false } }
    return {
      width: this.#host.clientWidth,
      height: HEIGHT,
      legend: { show: false },
      cursor: { show: false },
      scales: {
        x: { time: true, range: () => [this.#at - SPANS[this.#span].seconds, this.#at] },
        y: { range: (_plot, _min, max) => [0, Math.max(1, (max ?? 0) * 1.1)] },
      },
      axes: [
        { ...axis, values: (_plot, splits) => splits.map((at) => minuteText(at * 1_000)), space: 70, size: 28 },
        { ...axis, values: (_plot, splits) => splits.map((value) => rate(value)), size: 64 },
      ],
      series: [
        {},
        // the highest area first, so that the lower ones are drawn over it
        area(hatched(color('--shadow-denied'), color('--ground'), 'dots')),
        area(hatched(color('--denied'), color('--ground'), 'lines')),
        area(color('--allowed')),
        { ...uncounted, ...(stepped === undefined ? {} : { paths: stepped }) },
      ],
    }
  }
}

/** Selects the data of one policy, or of all, from an update. */
export function trafficOf({ history, day, at, policies }: PageUpdate, span: Span, policy?: string): ChartedTraffic {
  const chosen = policies.filter(({ name }) => (policy ?? name) === name)
  const sum = (outcome: SnapshotOutcome) => chosen.reduce((total, { perSecond }) => total + perSecond[outcome], 0)
  const [allowed, denied] = [sum('allowed'), sum('denied')]
  const perSecond = { allowed, denied, shadowDenied: sum('shadowDenied'), uncounted: sum('uncounted') }
  return { span, history: span === 'day' ? day : history, at, policy, perSecond }
}

/** The legend: pattern and colour of each outcome, with its current rate. */
export function chartLegend({ perSecond }: ChartedTraffic): HTMLElement {
  const uncounted = { outcome: 'uncounted', label: 'Of which not counted' } as const
  const entries = [...STACKED, uncounted].map(({ outcome, label }) => {
    const swatch = element('span', { class: `swatch ${outcome}`, 'aria-hidden': 'true' })
    return element('li', {}, swatch, `${label} ${rate(perSecond[outcome])}`)
  })
  return element('ul', { class: 'legend' }, ...entries)
}

/** The same data as means of five minutes or an hour, for users who cannot see the chart. */
export function chartTable(traffic: ChartedTraffic): HTMLElement {
  const { startAt, stepMs } = traffic.history
  const { groups, rows: averages } = SPANS[traffic.span]
  const rates = STACKED.map(({ outcome }) => ratesOf(traffic.history, { ...traffic, outcome }))
  const starts = Array.from({ length: Math.ceil(lengthOf(traffic.history) / groups) }, (_, group) => group * groups)
  const rows = starts.reverse().map((from) => {
    const at = startAt + from * stepMs
    const time = element('th', { scope: 'row', title: utcText(at) }, minuteText(at))
    const means = rates.map((values) => meanOf(values.slice(from, from + groups)))
    return element('tr', {}, time, ...means.map((mean) => element('td', { class: 'number' }, rate(mean))))
  })
  const heads = ['From', ...STACKED.map(({ label }) => label)].map((head) => element('th', { scope: 'col' }, head))
  const table = element('table', {}, element('thead', {}, element('tr', {}, ...heads)), element('tbody', {}, ...rows))
  const region = { class: 'scroll tall', role: 'region', 'aria-label': 'Decision rates as a table', tabindex: '0' }
  const summary = element('summary', {}, `Show as a table (${averages})`)
  return element('details', {}, summary, element('div', region, table))
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length)
}

function pointsOf(traffic: ChartedTraffic): uPlot.AlignedData {
  const { history, at } = traffic
  const [allowed, denied, shadowDenied] = STACKED.map(({ outcome }) => ratesOf(history, { ...traffic, outcome }))
  const uncounted = ratesOf(history, { ...traffic, outcome: 'uncounted' })
  const enforced = allowed.map((value, step) => value + denied[step])
  const all = enforced.map((value, step) => value + shadowDenied[step])
  const times = allowed.map((_, step) => (history.startAt + step * history.stepMs) / 1_000)
  // extend the current step to now
  const [ends, ...values] = [
    [...times, at / 1_000],
    ...[all, enforced, allowed, uncounted].map((each) => [...each, each.at(-1) ?? 0]),
  ]
  return [
    ends,
    ...values.map((each, index) => (index === 3 && each.every((value) => value === 0) ? each.map(() => null) : each)),
  ] as uPlot.AlignedData
}

function lastRates({ perSecond }: ChartedTraffic): string {
  return `Current rates: ${STACKED.map(({ outcome, label }) => `${label} ${rate(perSecond[outcome])}`).join(', ')}.`
}

/** Returns a colour with a pattern, so that outcomes can be distinguished without seeing colours. */
function hatched(color: string, ground: string, pattern: 'lines' | 'dots'): CanvasPattern | string {
  const tile = document.createElement('canvas')
  tile.width = HATCH
  tile.height = HATCH
  const context = tile.getContext('2d')
  if (context === null) return color
  context.fillStyle = color
  context.fillRect(0, 0, HATCH, HATCH)
  context.fillStyle = ground
  if (pattern === 'dots') context.fillRect(2, 2, 3, 3)
  else for (let at = 0; at < HATCH; at++) context.fillRect(at, HATCH - 1 - at, 2, 1)
  return context.createPattern(tile, 'repeat') ?? color
}
