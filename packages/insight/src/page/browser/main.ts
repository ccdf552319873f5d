import type { PageUpdate } from '../page-update.ts'
import { Connection, type ConnectionState } from './connection.ts'
import { type PageLocation, placeOf } from './dom/address.ts'
import { every } from './dom/browser-clock.ts'
import { element, morph } from './dom/elements.ts'
import { duration } from './dom/format.ts'
import { KeyLookup } from './dom/key-lookup.ts'
import { Operator } from './operator.ts'
import { summaryOf } from './summary.ts'
import { capsView, capView } from './views/cap-view.ts'
import { changesView } from './views/changes-view.ts'
import { eventsView } from './views/event-view.ts'
import { keysView, keyView } from './views/key-view.ts'
import { overview, scopeText } from './views/overview.ts'
import { policiesView, policyView } from './views/policy-view.ts'
import { processesView } from './views/process-view.ts'
import { sourcesView } from './views/source-view.ts'
import { TrafficChart, trafficOf } from './views/traffic-chart.ts'

/** Age from which numbers are marked as outdated. */
const STALE_MS = 4_000
const STATE_TEXTS: Readonly<Record<ConnectionState, string>> = {
  connecting: 'Connecting',
  live: 'Live',
  disconnected: 'Disconnected, reconnecting',
  forbidden: 'Access denied',
}

const byId = (id: string): HTMLElement => document.getElementById(id) as HTMLElement
const view = byId('view')
let chart: TrafficChart | undefined
let place = placeOf(location.hash)

const connection = new Connection(render)
const question = new KeyLookup(render)
const operator = new Operator(byId('outcome'), render)
addEventListener('hashchange', moved)
view.addEventListener('submit', (event) => operator.submitted(event))
document.addEventListener('visibilitychange', render)
// the chart reads its colours once, when it is created
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
  removeChart()
  render()
})
every(1_000, renderConnection)
render()

function render(): void {
  renderConnection()
  place = placeOf(location.hash)
  markPage(place)
  const { snapshot } = connection
  if (snapshot === undefined || document.hidden) return
  renderSummary(snapshot)
  byId('sources').hidden = snapshot.sources.length === 0 && place.view !== 'sources'
  morph(view, element('div', { id: 'view' }, ...viewOf(snapshot)))
  drawChart(snapshot)
}

function viewOf(snapshot: PageUpdate): readonly HTMLElement[] {
  switch (place.view) {
    case 'policy':
      return policyView(snapshot, place, operator.canAct)
    case 'policies':
      return policiesView(snapshot)
    case 'cap':
      return capView(snapshot, place.cap)
    case 'caps':
      return capsView(snapshot)
    case 'sources':
      return sourcesView(snapshot)
    case 'processes':
      return processesView(snapshot)
    case 'keys':
      return keysView()
    case 'key':
      return keyView(place.key, question.of(place.key, place.cost), operator.canAct)
    case 'changes':
      return changesView(
        operator.changes,
        snapshot.caps.map(({ name }) => name),
        operator.canAct,
      )
    case 'events':
      return eventsView(snapshot)
    case 'overview':
      return overview(snapshot, place.span)
  }
}

function drawChart(snapshot: PageUpdate): void {
  const host = document.getElementById('chart')
  if (chart?.host !== host) removeChart()
  if (host === null) return
  chart ??= new TrafficChart(host, place.span)
  chart.draw(trafficOf(snapshot, place.span, place.view === 'policy' ? place.policy : undefined))
}

function removeChart(): void {
  chart?.remove()
  chart = undefined
}

function renderSummary(snapshot: PageUpdate): void {
  const { state, verdict, figures } = summaryOf(snapshot)
  byId('summary').dataset.state = state
  setText('verdict', verdict)
  setText('figures', figures)
  setText('scope', scopeText(snapshot))
}

/** Sets a text only if it differs, because screen readers announce every change. */
function setText(id: string, text: string): void {
  const target = byId(id)
  if (target.textContent !== text) target.textContent = text
}

function renderConnection(): void {
  const { state, silentMs, snapshot } = connection
  const isOld = snapshot !== undefined && (silentMs > STALE_MS || state !== 'live')
  const age = isOld ? `, last update ${duration(Math.round(silentMs / 1_000) * 1_000)} ago` : ''
  const name = state === 'live' && isOld ? 'Stale' : STATE_TEXTS[state]
  byId('connection').dataset.state = state === 'live' && isOld ? 'stale' : state
  document.body.classList.toggle('old', isOld)
  setText('connection', `${name}${age}`)
}

function markPage({ view: name }: PageLocation): void {
  const lists: Readonly<Record<string, string>> = { policy: 'policies', cap: 'caps', key: 'keys' }
  const current = lists[name] ?? name
  for (const link of byId('pages').querySelectorAll('a')) {
    if (placeOf(link.hash).view === current) link.setAttribute('aria-current', 'page')
    else link.removeAttribute('aria-current')
  }
}

/** Scrolls a new view to its top and moves the focus there; another period of the same view changes nothing else. */
function moved(): void {
  operator.forgetOutcome()
  const before = place
  render()
  if (isSameView(before, place)) return
  scrollTo(0, 0)
  const heading = view.querySelector('h2')
  heading?.setAttribute('tabindex', '-1')
  heading?.focus()
}

function isSameView(one: PageLocation, other: PageLocation): boolean {
  if (one.view === 'policy' && other.view === 'policy') return one.policy === other.policy
  if (one.view === 'cap' && other.view === 'cap') return one.cap === other.cap
  return one.view === other.view
}
