import type { AuditLine, ControlEntry } from '../../../control/control.ts'
import { element, untrustedText } from '../dom/elements.ts'
import { count, timeText } from '../dom/format.ts'
import { timeElement } from '../dom/moment.ts'
import { capForm, undoForm } from './change-forms.ts'
import { policyLink } from './policy-text.ts'
import { section, table } from './table.ts'

const AUDIT_EVENTS: Readonly<Record<AuditLine['event'], string>> = {
  begun: 'Applied',
  undone: 'Undone',
  ended: 'Expired',
  failed: 'Failed',
}

/** Response of the `control` endpoint. */
export interface Changes {
  readonly controls: readonly ControlEntry[]
  readonly audit: readonly AuditLine[]
}

/** `caps`: the names of the caps. */
export function changesView(
  { controls, audit }: Changes,
  caps: readonly string[],
  canAct: boolean,
): readonly HTMLElement[] {
  const hint = 'Set a token for the dashboard to make changes here. Without a token it is read-only.'
  return [
    section(
      'Active changes',
      controlsTable(controls, canAct),
      ...(canAct ? [] : [element('p', { class: 'quiet' }, hint)]),
    ),
    ...(canAct && caps.length > 0 ? [section('Change a cap', capForm(caps))] : []),
    section('Audit log', auditTable(audit)),
  ]
}

export function controlsTable(controls: readonly ControlEntry[], canAct: boolean): HTMLElement {
  const rows = controls.map((entry) => [
    targetCell(entry),
    changeCell(entry),
    timeElement(entry.endsAt, timeText(entry.endsAt)),
    untrustedText(entry.by),
    entry.reason === undefined ? '–' : untrustedText(entry.reason),
    canAct ? undoForm(entry.id) : '',
  ])
  const columns = ['Policy', 'Change', 'Expires at', 'Changed by', 'Reason', ''].map((label) => ({ label }))
  return table('Active changes', columns, rows, 'No active changes: all limits are as configured.')
}

function targetCell({ policy, cap }: ControlEntry): HTMLElement | string {
  if (cap !== undefined) return element('span', {}, 'Cap ', untrustedText(cap))
  return policy === undefined ? 'All policies' : policyLink(policy)
}

function changeCell({ action, mode, limit, key }: ControlEntry): HTMLElement {
  if (action === 'mode') return element('span', {}, `Mode: ${mode ?? 'shadow'}`)
  if (action === 'limit') return element('span', {}, `Limit: ${count(limit ?? 0)}`)
  return element('span', {}, action === 'block' ? 'Blocked: ' : 'Reset: ', untrustedText(key ?? ''))
}

function auditTable(audit: readonly AuditLine[]): HTMLElement {
  const rows = audit.map(({ at, event, text }) => [timeElement(at), AUDIT_EVENTS[event], untrustedText(text)])
  const columns = ['Time', 'Event', 'Details'].map((label) => ({ label }))
  return table('Audit log', columns, rows, 'No changes since this process started.')
}
