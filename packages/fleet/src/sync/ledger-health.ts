import type { Clock } from '@sluice/limiter-core/backend'
import type { SyncLedger } from './sync-ledger.ts'

export interface LedgerHealthDeps {
  readonly ledger: Pick<SyncLedger, 'partitions' | 'serverOf'>
  readonly silentMs: number
  readonly clock: Clock
  /** Called when `isFailing` or `isSilent` has changed. */
  readonly changed: () => void
}

/**
 * Tracks which servers of a ledger reply. A partition is failing from the first failed exchange of its server, and
 * silent after `silentMs` without a reply, until its server replies again. A partition that moved to another server
 * waits for a reply of that server. If nothing is sent to that server, it is assumed to work, because the wait would
 * never end.
 */
export class LedgerHealth {
  readonly #deps: LedgerHealthDeps
  readonly #failing: boolean[]
  readonly #silent: boolean[]
  /** The server that was called last and has not replied, for each partition. */
  readonly #requested: (string | undefined)[]
  /** Functions that cancel the wait for a reply, by server. */
  readonly #waits = new Map<string, () => void>()
  #failures = 0
  #silences = 0

  constructor(deps: LedgerHealthDeps) {
    this.#deps = deps
    this.#failing = new Array(deps.ledger.partitions).fill(false)
    this.#silent = new Array(deps.ledger.partitions).fill(false)
    this.#requested = new Array(deps.ledger.partitions).fill(undefined)
  }

  /** Whether at least one partition is failing or silent. */
  get isImpaired(): boolean {
    return this.#failures + this.#silences > 0
  }

  /** Whether all partitions are failing. */
  get isDown(): boolean {
    return this.#failures === this.#failing.length
  }

  isFailing(partition: number): boolean {
    return this.#failing[partition]
  }

  isSilent(partition: number): boolean {
    return this.#silent[partition]
  }

  /** Starts the wait for the reply to an exchange. */
  awaitReply(partition: number): void {
    const { clock, silentMs } = this.#deps
    const server = this.#serverOf(partition)
    this.#ask(partition, server)
    if (this.#waits.has(server)) return
    const silence = (): void => {
      // if the exchange is repeated, it waits for the server that has the partition at that time
      this.#waits.delete(server)
      this.#mark(server, this.#silent, true)
      this.#forgive()
    }
    this.#waits.set(server, clock.after(silentMs, silence))
  }

  /** Records a reply. Returns whether the partition was failing before. */
  answered(partition: number): boolean {
    const server = this.#serverOf(partition)
    const wasFailing = this.#failing[partition]
    this.#endWait(server)
    if (this.isImpaired) {
      this.#mark(server, this.#silent, false)
      this.#mark(server, this.#failing, false)
    }
    this.#ask(partition, undefined)
    return wasFailing
  }

  /** Records a failed exchange. Returns whether it is the first failure of the partition. */
  failed(partition: number): boolean {
    if (this.#failing[partition]) return false
    this.#mark(this.#serverOf(partition), this.#failing, true)
    return true
  }

  /** Cancels all waits. */
  close(): void {
    for (const server of this.#waits.keys()) this.#endWait(server)
  }

  /** Sets the server that a partition waits for. Cancels the wait for its previous server if no partition needs it. */
  #ask(partition: number, server: string | undefined): void {
    const before = this.#requested[partition]
    if (before === server) return
    this.#requested[partition] = server
    if (before === undefined || this.#requested.includes(before)) return
    this.#endWait(before)
    this.#forgive()
  }

  #endWait(server: string): void {
    this.#waits.get(server)?.()
    this.#waits.delete(server)
  }

  #mark(server: string, marks: boolean[], value: boolean): void {
    this.#markWhere(marks, value, (partition) => this.#serverOf(partition) === server)
  }

  /** Clears the marks of partitions that wait for no reply and whose server no other partition waits for. */
  #forgive(): void {
    if (!this.isImpaired) return
    const requested = new Set(this.#requested)
    const isUnasked = (partition: number): boolean =>
      this.#requested[partition] === undefined && !requested.has(this.#serverOf(partition))
    this.#markWhere(this.#silent, false, isUnasked)
    this.#markWhere(this.#failing, false, isUnasked)
  }

  #markWhere(marks: boolean[], value: boolean, matches: (partition: number) => boolean): void {
    let isChanged = false
    for (let partition = 0; partition < marks.length; partition++) {
      if (marks[partition] === value || !matches(partition)) continue
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
