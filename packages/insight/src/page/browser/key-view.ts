import type { Explanation, PolicyExplanation } from '../../explain/explanation.ts'
import type { DenialSnapshot } from '../../live/snapshot.ts'
import { type KeyName, keyAddress } from './address.ts'
import { field, keyForm } from './change-forms.ts'
import { controlsTable } from './changes-view.ts'
import { bar, element, foreign } from './elements.ts'
import { count, duration } from './format.ts'
import type { KeyAnswer } from './key-question.ts'
import { moment } from './moment.ts'
import { policyLink } from './policy-text.ts'
import { section, table } from './table.ts'

/** The view to search for a key. */
export function keysView(): readonly HTMLElement[] {
  const input = element('input', { name: 'key', required: '', maxlength: '4096', autocomplete: 'off' })
  const cost = element('input', { name: 'cost', type: 'number', min: '1', step: '1', value: '1' })
  const form = element(
    'form',
    { class: 'fields', 'data-form': 'ask', 'data-keep': 'ask' },
    field('Key, as an address or a name', input),
    field('Units asked', cost),
    element('button', { type: 'submit' }, 'Why was it limited?'),
  )
  const hint = 'Keys stand in the tables of the overview and of each policy, too: follow one of them.'
  return [section('Ask for a key', form, element('p', { class: 'quiet' }, hint))]
}

export function keyView(name: KeyName, answer: KeyAnswer, canAct: boolean): readonly HTMLElement[] {
  if (answer.state === 'asking') return [element('p', { class: 'empty' }, 'Asking all policies…')]
  if (answer.state === 'refused') return [element('p', { class: 'empty' }, answer.why), ...keysView()]
  return explanationView(name, answer.explanation, canAct)
}

function explanationView(name: KeyName, explanation: Explanation, canAct: boolean): readonly HTMLElement[] {
  const { key, summary, policies, controls, denials, isWholeFleet } = explanation
  const [first, ...others] = summary
  return [
    element('h2', { class: 'title' }, 'Key ', foreign(key)),
    element(
      'div',
      { class: 'panel' },
      element('p', {}, element('strong', {}, foreign(first))),
      element('ul', {}, ...others.map((line) => element('li', {}, foreign(line)))),
    ),
    section('Policies', policiesTable(policies)),
    element(
      'div',
      { class: 'columns' },
      section(
        'Denials of late',
        denialsTable(denials),
        element('p', { class: 'quiet' }, isWholeFleet ? 'In all processes.' : 'In this process.'),
      ),
      ...(controls.length > 0 ? [section('Changes that hold', controlsTable(controls, canAct))] : []),
      ...(canAct ? [section('Change', keyForm(name))] : []),
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
    element('span', {}, foreign(policy.backend), policy.perProcess ? ', this process' : ''),
  ])
  const columns = ['policy', 'mode', 'used', 'asked', 'as new in', 'counted by'].map((label) => ({ label }))
  return table('Policies', columns, rows, 'No policy is watched.')
}

function usedCell({ isExempt, used, limit }: PolicyExplanation): HTMLElement {
  if (isExempt) return element('span', {}, '–')
  return element('span', { class: 'used' }, bar(used / limit), `${count(used)} of ${count(limit)}`)
}

function answerText({ isExempt, asked }: PolicyExplanation): string {
  if (isExempt || asked.allowed) return '✓ fits'
  return asked.retryAfterMs === null ? '✕ never fits' : `✕ fits in ${duration(asked.retryAfterMs)}`
}

function denialsTable(denials: readonly DenialSnapshot[]): HTMLElement {
  const rows = denials.map(({ at, policy, route, method, isShadow, times }) => [
    moment(at),
    policyLink(policy),
    foreign(`${method} ${route}`.trim()),
    isShadow ? 'in shadow' : 'denied',
    count(times),
  ])
  const columns = ['last', 'policy', 'route', 'how'].map((label) => ({ label }))
  return table('Denials of late', [...columns, { label: 'times', isNumber: true }], rows, 'None of late.')
}

/** A key that leads to its page, where it has an id. */
export function keyLink(id: string | undefined, key: string): HTMLElement {
  return id === undefined ? foreign(key) : element('a', { href: keyAddress({ id }) }, foreign(key))
}
