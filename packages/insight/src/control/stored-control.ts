import type { ControlAction, ControlEntry, ControlTerms } from './control.ts'

/** A change as processes tell each other: with its key as it is. */
export interface StoredControl extends ControlTerms {
  readonly change: ControlAction
}

/** True while it holds. */
export function isActive({ endsAt, undoneAt }: StoredControl, at: number): boolean {
  return undoneAt === undefined && at < endsAt
}

/** As it is shown. */
export function entryOf({ change, ...terms }: StoredControl, shown: (key: string) => string): ControlEntry {
  const { action, policy } = change
  return {
    ...terms,
    action,
    ...(policy !== undefined && { policy }),
    ...(change.action === 'mode' && { mode: change.mode }),
    ...(change.action === 'limit' && { limit: change.limit }),
    ...('key' in change && { key: shown(change.key) }),
  }
}
