import type { KeyName } from '../dom/address.ts'
import { element, untrustedText } from '../dom/elements.ts'

const DURATIONS = [
  ['5m', '5 minutes'],
  ['15m', '15 minutes'],
  ['1h', '1 hour'],
  ['6h', '6 hours'],
  ['24h', '24 hours'],
] as const

/** Returns the form to change a policy. It is not replaced while a user edits it. */
export function policyForm(policy: string): HTMLElement {
  const limit = element('input', { name: 'limit', type: 'number', min: '1', step: '1' })
  return form(
    `policy ${policy}`,
    [hidden('policy', policy), ...shared()],
    [
      button('Switch to shadow (count, do not deny)', { action: 'mode', mode: 'shadow' }),
      button('Switch off (do not count)', { action: 'mode', mode: 'off' }),
      button('Enforce (if code allows it)', { action: 'mode', mode: 'enforce' }),
      field('New limit', limit),
      button('Set limit', { action: 'limit' }),
    ],
  )
}

/** Returns the form to change one of the caps. It is not replaced while a user edits it. */
export function capForm(caps: readonly string[]): HTMLElement {
  const names = caps.map((name) => element('option', { value: name }, untrustedText(name)))
  const limit = element('input', { name: 'limit', type: 'number', min: '1', step: '1' })
  return form(
    'cap',
    [field('Cap', element('select', { name: 'cap' }, ...names)), ...shared()],
    [
      button('Switch the cap to shadow', { action: 'mode', mode: 'shadow' }),
      button('Switch the cap off', { action: 'mode', mode: 'off' }),
      field('Places per key', limit),
      button('Set places', { action: 'limit' }),
    ],
  )
}

/** Returns the form to change a key, identified by its name or its id. */
export function keyForm(name: KeyName): HTMLElement {
  const fields = Object.entries(name).map(([field, value]) => hidden(field, value))
  return form(
    `key ${JSON.stringify(name)}`,
    [...fields, ...shared()],
    [
      button('Block key', { action: 'block' }),
      button('Lift ban', { action: 'unban' }),
      button('Reset usage', { action: 'reset' }),
    ],
  )
}

/** Returns the button that undoes a change. */
export function undoForm(id: string): HTMLElement {
  return element('form', { 'data-form': 'undo' }, hidden('id', id), element('button', { type: 'submit' }, 'Undo'))
}

function form(kept: string, fields: readonly HTMLElement[], buttons: readonly HTMLElement[]): HTMLElement {
  return element('form', { class: 'fields', 'data-form': 'control', 'data-keep': kept }, ...fields, ...buttons)
}

function shared(): HTMLElement[] {
  const options = DURATIONS.map(([value, label]) =>
    element('option', { value, selected: value === '15m' ? '' : undefined }, label),
  )
  return [
    field('Duration', element('select', { name: 'duration' }, ...options)),
    field('Reason', element('input', { name: 'reason', maxlength: '128', autocomplete: 'off' })),
    field('Your name', element('input', { name: 'by', maxlength: '128', autocomplete: 'username' })),
  ]
}

/** Returns a labelled input. */
export function field(label: string, input: HTMLElement): HTMLElement {
  return element('label', {}, label, input)
}

function hidden(name: string, value: string): HTMLElement {
  return element('input', { type: 'hidden', name, value })
}

function button(label: string, change: Readonly<Record<string, string>>): HTMLElement {
  return element('button', { type: 'submit', 'data-change': JSON.stringify(change) }, label)
}
