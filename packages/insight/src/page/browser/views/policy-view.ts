import type { InsightSnapshot, PolicySnapshot, TopKeySnapshot } from '../../../live/report/snapshot.ts'
import type { PageUpdate } from '../../page-update.ts'
import { type Span, wellFormed } from '../dom/address.ts'
import { bar, element, untrustedText } from '../dom/elements.ts'
import { count, percent, rate } from '../dom/format.ts'
import { policyForm } from './change-forms.ts'
import { controlsTable } from './changes-view.ts'
import { keyLink } from './key-view.ts'
import { limitText, modeOf, policyLink } from './policy-text.ts'
import { section, table } from './table.ts'
import { trafficPanel } from './traffic-panel.ts'

const OUTCOMES = [
  ['allowed', 'Allowed'],
  ['denied', 'Denied'],
  ['shadowDenied', 'Shadow-denied'],
  ['uncounted', 'Of which not counted'],
] as const

/** Returns a table of policies, those closest to a limit first. */
export function policiesTable(policies: readonly PolicySnapshot[], most: number = policies.length): HTMLElement {
  const nearestFirst = policies.toSorted((a, b) => usedShare(b) - usedShare(a) || (a.name < b.name ? -1 : 1))
  const rows = nearestFirst
    .slice(0, most)
    .map((policy) => [
      element('div', {}, policyLink(policy.name), element('div', { class: 'quiet' }, limitText(policy))),
      element('span', { class: 'used' }, bar(usedShare(policy)), percent(usedShare(policy))),
      policy.nearest === undefined ? '–' : keyLink(policy.nearest.id, policy.nearest.key),
      rate(policy.perSecond.allowed),
      rate(policy.perSecond.denied),
      rate(policy.perSecond.shadowDenied),
    ])
  const columns = ['Policy', 'Highest usage', 'Key with highest usage'].map((label) => ({ label }))
  const numbers = ['Allowed', 'Denied', 'Shadow-denied'].map((label) => ({ label, isNumber: true }))
  return table('Policies', [...columns, ...numbers], rows, 'No policy has made a decision yet.')
}

export function policiesView({ policies }: InsightSnapshot): readonly HTMLElement[] {
  return [section('All policies', policiesTable(policies))]
}

export function policyView(
  snapshot: PageUpdate,
  { policy: name, span }: { readonly policy: string; readonly span: Span },
  canAct: boolean,
): readonly HTMLElement[] {
  const policy = snapshot.policies.find((each) => wellFormed(each.name) === name)
  const heading = element('h2', { class: 'title' }, 'Policy ', untrustedText(name))
  if (policy === undefined)
    return [heading, element('p', { class: 'empty' }, 'No process reports a policy with this name.')]
  const active = snapshot.controls.filter((entry) => entry.policy === policy.name)
  const terms = element('p', {}, `Limit: ${limitText(policy)} for each key. Mode: ${modeOf(policy)}.`)
  return [
    heading,
    element('div', { class: 'panel' }, terms, nearestText(policy), shadowText(policy)),
    ...(active.length > 0 ? [section('Active changes', controlsTable(active, canAct))] : []),
    trafficPanel(snapshot, span, policy.name),
    element(
      'div',
      { class: 'columns' },
      section('Outcomes', outcomesTable(policy)),
      section('Most denied keys', keysTable('Most denied keys', policy.topDenied)),
      section('Most allowed keys', keysTable('Most allowed keys', policy.topAllowed)),
      ...(canAct ? [section('Change this policy', policyForm(policy.name))] : []),
    ),
  ]
}

function nearestText({ nearest }: PolicySnapshot): HTMLElement {
  if (nearest === undefined) return element('p', { class: 'quiet' }, 'No requests in the last 10 seconds.')
  const used = element('span', { class: 'used' }, bar(nearest.usedShare), percent(nearest.usedShare))
  return element('p', {}, 'Closest to the limit: ', keyLink(nearest.id, nearest.key), ' ', used)
}

/** Describes what enforcing a shadow policy would do. */
function shadowText({ total }: PolicySnapshot): HTMLElement | undefined {
  const decisions = total.allowed + total.denied + total.shadowDenied
  if (total.shadowDenied === 0) return undefined
  const share = percent(total.shadowDenied / decisions)
  const denials = `${count(total.shadowDenied)} more requests (${share} of ${count(decisions)})`
  return element('p', {}, `If this policy were enforced, it would have denied ${denials}.`)
}

function outcomesTable({ perSecond, total }: PolicySnapshot): HTMLElement {
  const rows = OUTCOMES.map(([outcome, label]) => [label, rate(perSecond[outcome]), count(total[outcome])])
  const columns = [
    { label: 'Outcome' },
    { label: 'Last 10 s', isNumber: true },
    { label: 'Since start', isNumber: true },
  ]
  return table('Outcomes', columns, rows, '')
}

function keysTable(label: string, keys: readonly TopKeySnapshot[]): HTMLElement {
  const rows = keys.map(({ id, key, count: times, error }) => [keyLink(id, key), countText(times, error)])
  return table(
    label,
    [{ label: 'Key' }, { label: 'Last 10 min', isNumber: true }],
    rows,
    'None in the last 10 minutes.',
  )
}

/** Formats an estimated count as a range, because a sketch may overcount but never undercounts. */
export function countText(times: number, error: number): string {
  return error === 0 ? count(times) : `${count(times - error)} to ${count(times)}`
}

function usedShare({ nearest }: PolicySnapshot): number {
  return nearest?.usedShare ?? 0
}
