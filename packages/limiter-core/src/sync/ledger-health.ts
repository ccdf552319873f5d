import type { Clock } from '../contracts.ts'
import type { SyncLedger } from './sync-ledger.ts'

export interface LedgerHealthDeps {
  readonly ledger: Pick<SyncLedger, 'partitions' | 'serverOf'>
  readonly silentMs: number
  readonly clock: Clock
  /** The answers of `isFailing` and `isSilent` are others now. */
  readonly changed: () => void
}

/**
 * Which servers of a ledger answer. A partition fails from the first exchange of its server that failed, and is silent
 * once none was answered for `silentMs`; until its server answers again. One that another server has taken over waits
 * for an answer of that one.
 */
export class LedgerHealth {
  readonly #deps: LedgerHealthDeps
  readonly #failing: boolean[]
  readonly #silent: boolean[]
  /** By server: since when an answer is waited for. */
  readonly #waits = new Map<string, () => void>()
  #failures = 0
  #silences = 0

  constructor(deps: LedgerHealthDeps) {
    this.#deps = deps
    this.#failing = new Array(deps.ledger.partitions).fill(false)
    this.#silent = new Array(deps.ledger.partitions).fill(false)
  }

  /** A partition at least fails, or is silent. */
  get isImpaired(): boolean {
    return this.#failures + this.#silences > 0
  }

  /** No partition can be asked. */
  get isDown(): boolean {
    return this.#failures === this.#failing.length
  }

  isFailing(partition: number): boolean {
    return this.#failing[partition]
  }

  isSilent(partition: number): boolean {
    return this.#silent[partition]
  }

  /** An exchange is sent. */
  expect(partition: number): void {
    const { clock, silentMs } = this.#deps
    const server = this.#serverOf(partition)
    if (this.#waits.has(server)) return
    this.#waits.set(
      server,
      clock.after(silentMs, () => this.#mark(server, this.#silent, true)),
    )
  }

  /** An exchange was answered. True where its server failed before. */
  answered(partition: number): boolean {
    const server = this.#serverOf(partition)
    this.#waits.get(server)?.()
    this.#waits.delete(server)
    if (!this.isImpaired) return false
    const wasFailing = this.#failing[partition]
    this.#mark(server, this.#silent, false)
    this.#mark(server, this.#failing, false)
    return wasFailing
  }

  /** An exchange failed. True where it is the first one. */
  failed(partition: number): boolean {
    if (this.#failing[partition]) return false
    this.#mark(this.#serverOf(partition), this.#failing, true)
    return true
  }

  /** Waits for nobody any more. */
  close(): void {
    for (const cancel of this.#waits.values()) cancel()
    this.#waits.clear()
  }

  #mark(server: string, marks: boolean[], value: boolean): void {
    let isChanged = false
    for (let partition = 0; partition < marks.length; partition++) {
      if (marks[partition] === value || this.#serverOf(partition) !== server) continue
      marks[partition] = value
      isChanged = true
    }
    if (!isChanged) return
    this.#failures = this.#failing.filter(Boolean).length
    this.#silences = this.#silent.filter(Boolean).length
    this.#deps.changed()
  }

  #serverOf(partition: number): string {
    return this.#deps.ledger.serverOf?.(partition) ?? ''
  }
}
