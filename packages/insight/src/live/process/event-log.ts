import { messageOf, type ObserverEvent } from '@sluice/limiter-core/backend'
import { boundedText } from '../../bounded-text.ts'
import { MAX_REPORTED_EVENTS } from '../report/process-report.ts'
import type { EventSnapshot } from '../report/snapshot.ts'

// these events occur on nearly every request
const TOO_FREQUENT: readonly ObserverEvent[] = ['slowed', 'evicted', 'tail', 'lateCharge', 'shed']
const MAX_FIELDS = 8

/** Events since the last report: the first 10. */
export class EventLog {
  #events: EventSnapshot[] = []

  /** `shown` formats a key for display. */
  add(name: ObserverEvent, data: Readonly<Record<string, unknown>>, at: number, shown: (key: string) => string): void {
    if (this.#events.length >= MAX_REPORTED_EVENTS || TOO_FREQUENT.includes(name)) return
    const fields = Object.entries(data).slice(0, MAX_FIELDS)
    const text = fields.map(([field, value]) => `${field}=${field === 'key' ? shown(String(value)) : textOf(value)}`)
    this.#events.push({ at, name, text: boundedText(text.join(' ')) })
  }

  take(): EventSnapshot[] {
    const events = this.#events
    this.#events = []
    return events
  }
}

function textOf(value: unknown): string {
  return boundedText(value instanceof Object ? messageOf(value) : String(value))
}
