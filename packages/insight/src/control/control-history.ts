import type { PastEvent } from './audit-log.ts'
import type { ControlEntry } from './control.ts'
import { happensOnce, type StoredControl } from './stored-control.ts'

/** Joins the records of each change: how it began, and how it was undone. */
export function wholeControls(records: readonly StoredControl[]): StoredControl[] {
  const whole = new Map<string, StoredControl>()
  for (const record of records) {
    const known = whole.get(record.id)
    whole.set(record.id, known === undefined ? record : joined(known, record))
  }
  return [...whole.values()]
}

/** The record of how a change was undone does not have its key. */
function joined(one: StoredControl, other: StoredControl): StoredControl {
  const [begun, undone] = one.undoneAt === undefined ? [one, other] : [other, one]
  return { ...undone, change: begun.change }
}

/** Returns what has happened to a change until `at`. A change that happens once has no end. */
export function pastEvents({ change, undoneAt }: StoredControl, at: number, entry: ControlEntry): PastEvent[] {
  const begun = { event: 'begun', entry, at: entry.at } as const
  if (undoneAt !== undefined) return [begun, { event: 'undone', entry, at: undoneAt }]
  if (happensOnce(change) || entry.endsAt > at) return [begun]
  return [begun, { event: 'ended', entry, at: entry.endsAt }]
}
