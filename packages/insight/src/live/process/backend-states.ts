import { messageOf } from '@sluice/limiter-core/backend'
import { boundedText } from '../../bounded-text.ts'
import { BoundedTable } from '../report/bounded-table.ts'
import { MAX_BACKENDS } from '../report/process-report.ts'
import type { BackendSnapshot } from '../report/snapshot.ts'

/** Time for which a backend counts as `failing` after a failed call. */
const FAILING_MS = 10_000

interface BackendState {
  readonly name: string
  open: boolean
  /** When the current state began. */
  changedAt: number
  failedAt: number
  lastError: string | null
}

/** States of the backends of this process, derived from observed decisions and events. */
export class BackendStates {
  readonly #states: BoundedTable<BackendState>
  #now = 0
  #lastAnswered: string | undefined

  constructor() {
    this.#states = new BoundedTable(MAX_BACKENDS, (name) => ({
      name: boundedText(name),
      open: false,
      changedAt: this.#now,
      failedAt: Number.NEGATIVE_INFINITY,
      lastError: null,
    }))
  }

  /** Records that the backend made a decision. */
  answered(name: string): void {
    if (name === this.#lastAnswered) return
    this.#lastAnswered = name
    this.#states.of(name)
  }

  event(name: string, data: Readonly<Record<string, unknown>>, now: number): void {
    this.#now = now
    if (name === 'breaker') this.#changed(data, now)
    if (name === 'backendFailed') this.#failed(data, now)
  }

  report(now: number): BackendSnapshot[] {
    this.#now = now
    return [...this.#states.values()].map((state) => {
      const { name, lastError } = state
      return { name, state: stateOf(state, now), sinceMs: Math.max(0, now - sinceOf(state, now)), lastError }
    })
  }

  #changed({ backend, state, cause }: Readonly<Record<string, unknown>>, now: number): void {
    const known = this.#states.of(String(backend))
    const open = state !== 'closed'
    if (known.open !== open) known.changedAt = now
    known.open = open
    if (open) known.lastError = boundedText(String(cause))
    else known.failedAt = Number.NEGATIVE_INFINITY
  }

  #failed(data: Readonly<Record<string, unknown>>, now: number): void {
    const known = this.#states.of(String(data.backend ?? 'unknown'))
    if (stateOf(known, now) === 'ok') known.changedAt = now
    known.failedAt = now
    known.lastError = boundedText(messageOf(data.error ?? data.reason ?? data.cause))
  }
}

function stateOf({ open, failedAt }: BackendState, now: number): BackendSnapshot['state'] {
  if (open) return 'open'
  return now < failedAt + FAILING_MS ? 'failing' : 'ok'
}

function sinceOf(state: BackendState, now: number): number {
  const recovered = !state.open && state.failedAt !== Number.NEGATIVE_INFINITY && stateOf(state, now) === 'ok'
  return recovered ? state.failedAt + FAILING_MS : state.changedAt
}
