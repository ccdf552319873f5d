import type { InsightSnapshot, PolicySnapshot, TopKeySnapshot } from '../../live/snapshot.ts'
import type { PageUpdate } from '../page-update.ts'
import { type Span, wellFormed } from './address.ts'
import { policyForm } from './change-forms.ts'
import { controlsTable } from './changes-view.ts'
import { bar, element, foreign } from './elements.ts'
import { count, percent, rate } from './format.ts'
import { keyLink } from './key-view.ts'
import { modeOf, policyLink, promiseOf } from './policy-text.ts'
import { section, table } from './table.ts'
import { trafficPanel } from './traffic-panel.ts'

const OUTCOMES = [
  ['allowed', 'allowed'],
  ['denied', 'denied'],
  ['shadowDenied', 'denied in shadow'],
  ['uncounted', 'not counted (of all)'],
] as const

/** All policies, those closest to a limit first. */
export function policiesTable(policies: readonly PolicySnapshot[], most: number = policies.length): HTMLElement {
  const nearestFirst = policies.toSorted((a, b) => usedShare(b) - usedShare(a) || (a.name < b.name ? -1 : 1))
  const rows = nearestFirst
    .slice(0, most)
    .map((policy) => [
      element('div', {}, policyLink(policy.name), element('div', { class: 'quiet' }, promiseOf(policy))),
      element('span', { class: 'used' }, bar(usedShare(policy)), percent(usedShare(policy))),
      policy.nearest === undefined ? '–' : keyLink(policy.nearest.id, policy.nearest.key),
      rate(policy.perSecond.allowed),
      rate(policy.perSecond.denied),
      rate(policy.perSecond.shadowDenied),
    ])
  const columns = ['policy', 'nearest key used', 'nearest key'].map((label) => ({ label }))
  const numbers = ['allowed', 'denied', 'in shadow'].map((label) => ({ label, isNumber: true }))
  return table('Policies', [...columns, ...numbers], rows, 'No policy has decided anything yet.')
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
  const heading = element('h2', { class: 'title' }, 'Policy ', foreign(name))
  if (policy === undefined) return [heading, element('p', { class: 'empty' }, 'No policy of this name is seen now.')]
  const held = snapshot.controls.filter((entry) => entry.policy === policy.name)
  const promise = element('p', {}, `At most ${promiseOf(policy)} for each key; ${modeOf(policy)}.`)
  return [
    heading,
    element('div', { class: 'panel' }, promise, nearestText(policy), shadowText(policy)),
    ...(held.length > 0 ? [section('Changes that hold', controlsTable(held, canAct))] : []),
    trafficPanel(snapshot, span, policy.name),
    element(
      'div',
      { class: 'columns' },
      section('Outcomes', outcomesTable(policy)),
      section('Most denied keys', keysTable('Most denied keys', policy.topDenied)),
      section('Most allowed keys', keysTable('Most allowed keys', policy.topAllowed)),
      ...(canAct ? [section('Change', policyForm(policy.name))] : []),
    ),
  ]
}

function nearestText({ nearest }: PolicySnapshot): HTMLElement {
  if (nearest === undefined) return element('p', { class: 'quiet' }, 'No key asked in the last seconds.')
  const used = element('span', { class: 'used' }, bar(nearest.usedShare), percent(nearest.usedShare))
  return element('p', {}, 'Nearest to its end: ', keyLink(nearest.id, nearest.key), ' ', used)
}

/** Describes what enforcing a shadow policy would do. */
function shadowText({ total }: PolicySnapshot): HTMLElement | undefined {
  const decisions = total.allowed + total.denied + total.shadowDenied
  if (total.shadowDenied === 0) return undefined
  const share = percent(total.shadowDenied / decisions)
  return element(
    'p',
    {},
    `Enforced, it would have denied ${count(total.shadowDenied)} more: ${share} of ${count(decisions)} decisions.`,
  )
}

function outcomesTable({ perSecond, total }: PolicySnapshot): HTMLElement {
  const rows = OUTCOMES.map(([outcome, label]) => [label, rate(perSecond[outcome]), count(total[outcome])])
  const columns = [{ label: 'outcome' }, { label: 'now', isNumber: true }, { label: 'since start', isNumber: true }]
  return table('Outcomes', columns, rows, '')
}

function keysTable(label: string, keys: readonly TopKeySnapshot[]): HTMLElement {
  const rows = keys.map(({ id, key, count: times, error }) => [keyLink(id, key), countText(times, error)])
  return table(label, [{ label: 'key' }, { label: 'last 10 min', isNumber: true }], rows, 'None in the last minutes.')
}

/** A sketch counts never under. */
export function countText(times: number, error: number): string {
  return error === 0 ? count(times) : `${count(times - error)} to ${count(times)}`
}

function usedShare({ nearest }: PolicySnapshot): number {
  return nearest?.usedShare ?? 0
}
