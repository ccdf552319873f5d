import type { InsightSnapshot, RouteSnapshot } from '../../../live/report/snapshot.ts'
import type { PageUpdate } from '../../page-update.ts'
import type { Span } from '../dom/address.ts'
import { element, untrustedText } from '../dom/elements.ts'
import { count, duration, milliseconds, percent, rate } from '../dom/format.ts'
import { capsTable } from './cap-table.ts'
import { controlsTable } from './changes-view.ts'
import { keyLink } from './key-view.ts'
import { policyLink, processes } from './policy-text.ts'
import { countText, policiesTable } from './policy-view.ts'
import { processesTable } from './process-view.ts'
import { shedTable } from './shed-table.ts'
import { section, table } from './table.ts'
import { trafficPanel } from './traffic-panel.ts'
import { uniqueDays } from './unique-days-view.ts'

const MAX_ROWS = 8
const STATES = { ok: '✓ OK', failing: '! failing', open: '✕ circuit open' } as const

/** The overview, most urgent parts first. */
export function overview(snapshot: PageUpdate, span: Span): readonly HTMLElement[] {
  const { policies, sheds, routes, backends, processes: all, controls, uniques, bans } = snapshot
  return [
    tiles(snapshot),
    ...(controls.length > 0 ? [section('Active changes', controlsTable(controls, false))] : []),
    trafficPanel(snapshot, span),
    section('Closest to the limit', policiesTable(policies, MAX_ROWS)),
    element(
      'div',
      { class: 'columns' },
      section('In-flight requests', capsTable(snapshot, span, MAX_ROWS)),
      ...(sheds.length > 0 ? [section('Shed requests', shedTable(sheds))] : []),
      ...(bans.length > 0 ? [section('Banned keys', bansTable(snapshot))] : []),
      section('Most denied keys', topKeysTable(snapshot, 'topDenied')),
      section('Most allowed keys', topKeysTable(snapshot, 'topAllowed')),
      section('Slowest routes', routesTable(routes)),
      section('Backends', backendsTable(backends)),
      section('Processes', processesTable(all.slice(0, MAX_ROWS))),
      ...uniqueDays(uniques.days),
    ),
  ]
}

function tiles({ ratePerSecond, deniedShare, uniques }: InsightSnapshot): HTMLElement {
  const entries = [
    ['Decision rate (last 10 s)', rate(ratePerSecond.now)],
    ['Decision rate (last hour)', rate(ratePerSecond.lastHour)],
    ['Denied (last 10 s)', percent(deniedShare)],
    ['Unique keys (last hour)', `≈\u00a0${count(uniques.hour)}`],
    ['Unique keys (last 24 h)', `≈\u00a0${count(uniques.day)}`],
  ]
  const made = entries.map(([label, value]) => element('div', {}, element('dt', {}, label), element('dd', {}, value)))
  return element('dl', { class: 'tiles' }, ...made)
}

function topKeysTable({ policies }: InsightSnapshot, list: 'topDenied' | 'topAllowed'): HTMLElement {
  const all = policies.flatMap((policy) => policy[list].map((each) => ({ ...each, policy: policy.name })))
  const rows = all
    .toSorted((a, b) => b.count - a.count)
    .slice(0, MAX_ROWS)
    .map(({ id, key, count: times, error, policy }) => [keyLink(id, key), policyLink(policy), countText(times, error)])
  const label = list === 'topDenied' ? 'Most denied keys' : 'Most allowed keys'
  const columns = [{ label: 'Key' }, { label: 'Policy' }, { label: 'Last 10 min', isNumber: true }]
  return table(
    label,
    columns,
    rows,
    list === 'topDenied' ? 'No denials in the last 10 minutes.' : 'No requests in the last 10 minutes.',
  )
}

/** The name of a key links to its page, where an operator can lift its bans. */
function bansTable({ at, bans }: InsightSnapshot): HTMLElement {
  const rows = bans
    .slice(0, MAX_ROWS)
    .map(({ id, key, policy, endsAt, level }) => [
      keyLink(id, key),
      policyLink(policy),
      duration(Math.max(0, endsAt - at)),
      count(level + 1),
    ])
  const columns = [{ label: 'Key' }, { label: 'Policy' }, { label: 'Ends in' }, { label: 'Ban', isNumber: true }]
  return table('Banned keys', columns, rows, 'No keys are banned.')
}

function routesTable(routes: readonly RouteSnapshot[]): HTMLElement {
  const slowestFirst = routes.toSorted((a, b) => (b.p99 ?? 0) - (a.p99 ?? 0))
  const rows = slowestFirst
    .slice(0, MAX_ROWS)
    .map(({ route, method, p50, p90, p99, perSecond }) => [
      untrustedText(`${method} ${route}`.trim()),
      milliseconds(p50),
      milliseconds(p90),
      milliseconds(p99),
      rate(perSecond),
    ])
  const numbers = ['p50', 'p90', 'p99', 'Request rate'].map((label) => ({ label, isNumber: true }))
  return table('Slowest routes', [{ label: 'Route' }, ...numbers], rows, 'No request has completed yet.')
}

function backendsTable(backends: InsightSnapshot['backends']): HTMLElement {
  const rows = backends.map(({ name, state, sinceMs, lastError }) => [
    untrustedText(name),
    element('span', { class: `state ${state}` }, STATES[state]),
    duration(sinceMs),
    lastError === null ? '–' : untrustedText(lastError),
  ])
  const columns = ['Backend', 'State', 'In state for', 'Last error'].map((label) => ({ label }))
  return table('Backends', columns, rows, 'No backend has been used yet.')
}

/** Describes which processes the numbers cover. */
export function scopeText({ isWholeFleet, processes: all }: InsightSnapshot): string {
  return isWholeFleet ? `Showing ${processes(all.length)}.` : 'Showing this process only.'
}
