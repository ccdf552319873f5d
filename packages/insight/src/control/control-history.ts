import type { PastEvent } from './audit-log.ts'
import type { ControlEntry } from './control.ts'
import { happensOnce, type StoredControl } from './stored-control.ts'

/** Joins the records of each change: how it began, and how it was undone. */
export function wholeControls(records: readonly StoredControl[]): StoredControl[] {
  const whole = new Map<string, StoredControl>()
  for (const record of records) {
    const known = whole.get(record.id)
    whole.set(record.id, known?.undoneAt === undefined ? record : known)
  }
  return [...whole.values()]
}

/** Returns what has happened to a change until `at`. A change that happens once has no end. */
export function pastEvents({ change, undoneAt }: StoredControl, at: number, entry: ControlEntry): PastEvent[] {
  const begun = { event: 'begun', entry, at: entry.at } as const
  if (undoneAt !== undefined) return [begun, { event: 'undone', entry, at: undoneAt }]
  if (happensOnce(change) || entry.endsAt > at) return [begun]
  return [begun, { event: 'ended', entry, at: entry.endsAt }]
}
