import type { Explanation, PolicyExplanation } from '../../../explain/explanation.ts'
import type { DenialSnapshot } from '../../../live/report/snapshot.ts'
import { type KeyName, keyAddress } from '../dom/address.ts'
import { bar, element, untrustedText } from '../dom/elements.ts'
import { count, duration } from '../dom/format.ts'
import type { KeyAnswer } from '../dom/key-lookup.ts'
import { timeElement } from '../dom/moment.ts'
import { field, keyForm } from './change-forms.ts'
import { controlsTable } from './changes-view.ts'
import { policyLink } from './policy-text.ts'
import { section, table } from './table.ts'

/** Form to look up a key. */
export function keysView(): readonly HTMLElement[] {
  const input = element('input', { name: 'key', required: '', maxlength: '4096', autocomplete: 'off' })
  const cost = element('input', { name: 'cost', type: 'number', min: '1', step: '1', value: '1' })
  const form = element(
    'form',
    { class: 'fields', 'data-form': 'ask', 'data-keep': 'ask' },
    field('Key (such as an IP address or account ID)', input),
    field('Cost (units)', cost),
    element('button', { type: 'submit' }, 'Look up key'),
  )
  const hint = 'You can also click a key in the tables of the overview and of each policy.'
  return [section('Look up a key', form, element('p', { class: 'quiet' }, hint))]
}

export function keyView(name: KeyName, answer: KeyAnswer, canAct: boolean): readonly HTMLElement[] {
  if (answer.state === 'loading') return [element('p', { class: 'empty' }, 'Loading…')]
  if (answer.state === 'refused') return [element('p', { class: 'empty' }, answer.why), ...keysView()]
  return explanationView(name, answer.explanation, canAct)
}

function explanationView(name: KeyName, explanation: Explanation, canAct: boolean): readonly HTMLElement[] {
  const { key, summary, policies, controls, denials, isWholeFleet } = explanation
  const [first, ...others] = summary
  return [
    element('h2', { class: 'title' }, 'Key ', untrustedText(key)),
    element(
      'div',
      { class: 'panel' },
      element('p', {}, element('strong', {}, untrustedText(first))),
      element('ul', {}, ...others.map((line) => element('li', {}, untrustedText(line)))),
    ),
    section('Policies', policiesTable(policies)),
    element(
      'div',
      { class: 'columns' },
      section(
        'Recent denials',
        denialsTable(denials),
        element('p', { class: 'quiet' }, isWholeFleet ? 'Denials in all processes.' : 'Denials in this process only.'),
      ),
      ...(controls.length > 0 ? [section('Active changes', controlsTable(controls, canAct))] : []),
      ...(canAct ? [section('Actions', keyForm(name))] : []),
    ),
  ]
}

function policiesTable(policies: readonly PolicyExplanation[]): HTMLElement {
  const rows = policies.map((policy) => [
    policyLink(policy.policy),
    policy.isExempt ? 'exempt' : policy.mode,
    usedCell(policy),
    answerText(policy),
    policy.isExempt ? '–' : duration(policy.resetAfterMs),
    element('span', {}, untrustedText(policy.backend), policy.perProcess ? ' (this process only)' : ''),
  ])
  const columns = ['Policy', 'Mode', 'Used', 'Next request', 'Full reset in', 'Backend'].map((label) => ({ label }))
  return table('Policies', columns, rows, 'No policies are observed in this process.')
}

function usedCell({ isExempt, used, limit }: PolicyExplanation): HTMLElement {
  if (isExempt) return element('span', {}, '–')
  return element('span', { class: 'used' }, bar(used / limit), `${count(used)} of ${count(limit)}`)
}

function answerText({ isExempt, requested }: PolicyExplanation): string {
  if (isExempt || requested.allowed) return '✓ allowed'
  if (requested.retryAfterMs === null) return '✕ can never be allowed'
  return `✕ denied, retry in ${duration(requested.retryAfterMs)}`
}

function denialsTable(denials: readonly DenialSnapshot[]): HTMLElement {
  const rows = denials.map(({ at, policy, route, method, isShadow, times }) => [
    timeElement(at),
    policyLink(policy),
    untrustedText(`${method} ${route}`.trim()),
    isShadow ? 'shadow-denied' : 'denied',
    count(times),
  ])
  const columns = ['Last denial', 'Policy', 'Route', 'Outcome'].map((label) => ({ label }))
  return table('Recent denials', [...columns, { label: 'Count', isNumber: true }], rows, 'No recent denials.')
}

/** Returns a link to the page of a key, or plain text if the id is unknown. */
export function keyLink(id: string | undefined, key: string): HTMLElement {
  return id === undefined ? untrustedText(key) : element('a', { href: keyAddress({ id }) }, untrustedText(key))
}
