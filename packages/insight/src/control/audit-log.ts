import { singleLine } from '../single-line.ts'
import type { AuditLine, ControlEntry } from './control.ts'

const MAX_LINES = 200

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
    const line = { at, event, entry, text: singleLine(textOf(event, entry, why)) }
    this.#lines = [line, ...this.#lines].slice(0, MAX_LINES)
    try {
      this.#sink?.(line)
    } catch {
      this.#sink = undefined
    }
  }
}

function textOf(event: AuditLine['event'], entry: ControlEntry, why: string | undefined): string {
  const what = changeText(entry)
  if (event === 'begun') return `${entry.by}: ${what}${entry.reason === undefined ? '' : ` (${entry.reason})`}`
  if (event === 'undone') return `${entry.undoneBy}: undone: ${what}`
  return event === 'ended' ? `expired: ${what}` : `failed in this process: ${what}: ${why}`
}

function changeText({ action, policy, mode, limit, key }: ControlEntry): string {
  const where = policy === undefined ? 'all policies' : `policy '${policy}'`
  switch (action) {
    case 'mode':
      return mode === 'off' ? `${where} switched off` : `${where} switched to shadow`
    case 'limit':
      return `limit of ${where} set to ${limit}`
    case 'block':
      return `key ${key} blocked in ${where}`
    case 'reset':
      return `key ${key} reset in ${where}`
  }
}
