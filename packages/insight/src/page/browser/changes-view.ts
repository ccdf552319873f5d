import type { AuditLine, ControlEntry } from '../../control/control.ts'
import { undoForm } from './change-forms.ts'
import { element, foreign } from './elements.ts'
import { count, timeText } from './format.ts'
import { moment } from './moment.ts'
import { policyLink } from './policy-text.ts'
import { section, table } from './table.ts'

/** The server's reply about changes. */
export interface Changes {
  readonly controls: readonly ControlEntry[]
  readonly audit: readonly AuditLine[]
}

export function changesView({ controls, audit }: Changes, canAct: boolean): readonly HTMLElement[] {
  const hint = 'Set a token for the page to change limits from here: without one it only shows.'
  return [
    section(
      'Changes that hold',
      controlsTable(controls, canAct),
      ...(canAct ? [] : [element('p', { class: 'quiet' }, hint)]),
    ),
    section('Audit', auditTable(audit)),
  ]
}

export function controlsTable(controls: readonly ControlEntry[], canAct: boolean): HTMLElement {
  const rows = controls.map((entry) => [
    entry.policy === undefined ? 'all policies' : policyLink(entry.policy),
    changeCell(entry),
    moment(entry.endsAt, timeText(entry.endsAt)),
    foreign(entry.by),
    entry.reason === undefined ? '–' : foreign(entry.reason),
    canAct ? undoForm(entry.id) : '',
  ])
  const columns = ['policy', 'change', 'until', 'by', 'why', ''].map((label) => ({ label }))
  return table('Changes that hold', columns, rows, 'All limits are as they were built.')
}

function changeCell({ action, mode, limit, key }: ControlEntry): HTMLElement {
  if (action === 'mode') return element('span', {}, mode === 'off' ? 'switched off' : 'in shadow')
  if (action === 'limit') return element('span', {}, `limit ${count(limit ?? 0)}`)
  return element('span', {}, action === 'block' ? 'blocked: ' : 'reset: ', foreign(key ?? ''))
}

function auditTable(audit: readonly AuditLine[]): HTMLElement {
  const rows = audit.map(({ at, event, text }) => [moment(at), event, foreign(text)])
  const columns = ['time', 'event', 'what'].map((label) => ({ label }))
  return table('Audit', columns, rows, 'Nobody has changed anything since this process started.')
}
