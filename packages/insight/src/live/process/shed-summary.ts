import { boundedText } from '../../bounded-text.ts'
import { indexOfPriority, PRIORITIES } from '../../priorities.ts'
import type { ShedReport } from '../report/process-report.ts'

/** Highest pressure at a request that was shed, and the signal that it comes from. */
interface Pressure {
  readonly pressure: number
  readonly signal: string
}

/** Requests that one policy of this process has shed. */
export class ShedSummary {
  readonly #name: string
  readonly #shed = PRIORITIES.map(() => 0)
  #shadow = 0
  #highest: Pressure | undefined
  #before: Pressure | undefined

  constructor(name: string) {
    this.#name = boundedText(name)
  }

  /** Adds the data of a `shed` event. */
  shed({ priority, pressure, signal, shadow }: Readonly<Record<string, unknown>>): void {
    if (shadow === true) this.#shadow++
    else this.#shed[indexOfPriority(priority)]++
    if (typeof pressure !== 'number' || !(pressure >= (this.#highest?.pressure ?? 0))) return
    this.#highest = { pressure: Math.min(1, pressure), signal: boundedText(String(signal)) }
  }

  /** Called after each report: a pressure is reported for one to two seconds. */
  advance(): void {
    this.#before = this.#highest
    this.#highest = undefined
  }

  report(): ShedReport {
    const { pressure, signal } = this.#highest ?? this.#before ?? {}
    return { name: this.#name, byPriority: [...this.#shed], shadow: this.#shadow, pressure, signal }
  }
}
