import type { ControlAction, ControlEntry } from './control.ts'

/** A change as processes tell each other: with its key as it is. */
export interface StoredControl {
  readonly id: string
  readonly change: ControlAction
  readonly at: number
  readonly endsAt: number
  readonly by: string
  readonly reason?: string | undefined
  readonly undoneAt?: number | undefined
  readonly undoneBy?: string | undefined
}

/** True while it holds. */
export function isActive({ endsAt, undoneAt }: StoredControl, at: number): boolean {
  return undoneAt === undefined && at < endsAt
}

/** As it is shown. */
export function entryOf(
  { id, change, at, endsAt, by, reason, undoneAt, undoneBy }: StoredControl,
  shown: (key: string) => string,
): ControlEntry {
  const { action, policy } = change
  return {
    id,
    action,
    ...(policy !== undefined && { policy }),
    ...(change.action === 'mode' && { mode: change.mode }),
    ...(change.action === 'limit' && { limit: change.limit }),
    ...('key' in change && { key: shown(change.key) }),
    at,
    endsAt,
    by,
    ...(reason !== undefined && { reason }),
    ...(undoneAt !== undefined && { undoneAt, undoneBy }),
  }
}
