import type { ControlAction, ControlEntry, ControlTerms } from './control.ts'

/** A change as it is stored and exchanged between processes, with its unmasked key. */
export interface StoredControl extends ControlTerms {
  readonly change: ControlAction
}

/** Whether the change is applied once and has no end. */
export function happensOnce({ action }: Pick<ControlAction, 'action'>): boolean {
  return action === 'reset' || action === 'unban'
}

/** Whether the change is neither undone nor expired. */
export function isActive({ endsAt, undoneAt }: StoredControl, at: number): boolean {
  return undoneAt === undefined && at < endsAt
}

/** Converts a stored change for display: `shown` masks the key. */
export function entryOf({ change, ...terms }: StoredControl, shown: (key: string) => string): ControlEntry {
  const { action, policy, cap } = change
  return {
    ...terms,
    action,
    ...(policy !== undefined && { policy }),
    ...(cap !== undefined && { cap }),
    ...(change.action === 'mode' && { mode: change.mode }),
    ...(change.action === 'limit' && { limit: change.limit }),
    ...('key' in change && { key: shown(change.key) }),
  }
}
