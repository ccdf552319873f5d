import { singleLine } from '../single-line.ts'
import type { AuditLine, ControlEntry } from './control.ts'

const MAX_LINES = 200

/** A line without its text. */
export type PastEvent = Pick<AuditLine, 'event' | 'entry' | 'at'>

/** Audit log of this process: the last 200 lines, latest first. The sink is dropped after it has thrown. */
export class AuditLog {
  #lines: AuditLine[] = []
  #sink: ((line: AuditLine) => void) | undefined

  constructor(sink: ((line: AuditLine) => void) | undefined) {
    this.#sink = sink
  }

  get lines(): readonly AuditLine[] {
    return this.#lines
  }

  add(event: AuditLine['event'], entry: ControlEntry, at: number, why?: string): void {
    const line = lineOf({ event, entry, at }, why)
    this.#lines = [line, ...this.#lines].slice(0, MAX_LINES)
    try {
      this.#sink?.(line)
    } catch {
      this.#sink = undefined
    }
  }

  /** Whether a line of this change is in the log. */
  has(id: string): boolean {
    return this.#lines.some(({ entry }) => entry.id === id)
  }

  /** Adds lines that earlier processes have written, without reporting them again, and sorts all lines by time. */
  restore(events: readonly PastEvent[]): void {
    const lines = [...this.#lines, ...events.map((event) => lineOf(event))]
    this.#lines = lines.sort((a, b) => b.at - a.at).slice(0, MAX_LINES)
  }
}

function lineOf({ event, entry, at }: PastEvent, why?: string): AuditLine {
  return { at, event, entry, text: singleLine(textOf(event, entry, why)) }
}

function textOf(event: AuditLine['event'], entry: ControlEntry, why: string | undefined): string {
  const what = changeText(entry)
  if (event === 'begun') return `${entry.by}: ${what}${entry.reason === undefined ? '' : ` (${entry.reason})`}`
  if (event === 'undone') return `${entry.undoneBy}: undone: ${what}`
  return event === 'ended' ? `expired: ${what}` : `failed in this process: ${what}: ${why}`
}

function changeText({ action, policy, cap, mode, limit, key }: ControlEntry): string {
  const ofPolicy = policy === undefined ? 'all policies' : `policy '${policy}'`
  const where = cap === undefined ? ofPolicy : `cap '${cap}'`
  switch (action) {
    case 'mode':
      if (mode === 'enforce') return `${where} enforced`
      return mode === 'off' ? `${where} switched off` : `${where} switched to shadow`
    case 'limit':
      return `limit of ${where} set to ${limit}`
    case 'block':
      return `key ${key} blocked in ${where}`
    case 'reset':
      return `key ${key} reset in ${where}`
    case 'unban':
      return `ban of key ${key} lifted in ${where}`
  }
}
