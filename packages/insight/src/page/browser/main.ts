import type { InsightSnapshot } from '../../live/snapshot.ts'
import { type Place, placeOf } from './address.ts'
import { every } from './browser-clock.ts'
import { Connection, type ConnectionState } from './connection.ts'
import { element, morph } from './elements.ts'
import { eventsView } from './event-view.ts'
import { duration } from './format.ts'
import { overview, scopeText } from './overview.ts'
import { policiesView, policyView } from './policy-view.ts'
import { processesView } from './process-view.ts'
import { summaryOf } from './summary.ts'
import { TrafficChart, trafficOf } from './traffic-chart.ts'

/** From here on numbers are marked as old. */
const STALE_MS = 4_000
const STATE_TEXTS: Readonly<Record<ConnectionState, string>> = {
  connecting: 'Connecting',
  live: 'Live',
  disconnected: 'Disconnected, trying again',
  forbidden: 'No longer allowed to look',
}

const byId = (id: string): HTMLElement => document.getElementById(id) as HTMLElement
const view = byId('view')
let chart: TrafficChart | undefined

const connection = new Connection(render)
addEventListener('hashchange', moved)
document.addEventListener('visibilitychange', render)
// colours of the chart are read once
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
  removeChart()
  render()
})
every(1_000, renderConnection)
render()

function render(): void {
  renderConnection()
  markPage(placeOf(location.hash))
  const { snapshot } = connection
  if (snapshot === undefined || document.hidden) return
  renderSummary(snapshot)
  morph(view, element('div', { id: 'view' }, ...viewOf(snapshot, placeOf(location.hash))))
  drawChart(snapshot)
}

function viewOf(snapshot: InsightSnapshot, place: Place): readonly HTMLElement[] {
  switch (place.view) {
    case 'policy':
      return policyView(snapshot, place.policy)
    case 'policies':
      return policiesView(snapshot)
    case 'processes':
      return processesView(snapshot)
    case 'events':
      return eventsView(snapshot)
    case 'overview':
      return overview(snapshot)
  }
}

function drawChart(snapshot: InsightSnapshot): void {
  const host = document.getElementById('chart')
  if (chart?.host !== host) removeChart()
  if (host === null) return
  chart ??= new TrafficChart(host)
  const place = placeOf(location.hash)
  chart.draw(trafficOf(snapshot, place.view === 'policy' ? place.policy : undefined))
}

function removeChart(): void {
  chart?.remove()
  chart = undefined
}

function renderSummary(snapshot: InsightSnapshot): void {
  const { state, verdict, figures } = summaryOf(snapshot)
  byId('summary').dataset.state = state
  setText('verdict', verdict)
  setText('figures', figures)
  setText('scope', scopeText(snapshot))
}

/** What is written anew is read aloud anew. */
function setText(id: string, text: string): void {
  const target = byId(id)
  if (target.textContent !== text) target.textContent = text
}

function renderConnection(): void {
  const { state, silentMs, snapshot } = connection
  const isOld = snapshot !== undefined && (silentMs > STALE_MS || state !== 'live')
  const heard = isOld ? `, last heard ${duration(Math.round(silentMs / 1_000) * 1_000)} ago` : ''
  const name = state === 'live' && isOld ? 'Stale' : STATE_TEXTS[state]
  byId('connection').dataset.state = state === 'live' && isOld ? 'stale' : state
  document.body.classList.toggle('old', isOld)
  setText('connection', `${name}${heard}`)
}

function markPage({ view: name }: Place): void {
  const current = name === 'policy' ? 'policies' : name
  for (const link of byId('pages').querySelectorAll('a')) {
    if (placeOf(link.hash).view === current) link.setAttribute('aria-current', 'page')
    else link.removeAttribute('aria-current')
  }
}

/** Another view begins at its top, also for who does not see it. */
function moved(): void {
  render()
  scrollTo(0, 0)
  const heading = view.querySelector('h2')
  heading?.setAttribute('tabindex', '-1')
  heading?.focus()
}
