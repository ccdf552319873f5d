import type { AccountChange, AccountId, StoredAccount } from '@sluice/counters/backend'
import { accountChange, type PendingChange, settledAccount } from './account-change.ts'
import type { QuotaTerms } from './account-periods.ts'
import { emptyState, parseState, serializeState } from './quota-state.ts'
import { type Recovery, recoveryOf } from './recovered-state.ts'
import { UnconfirmedWrites } from './unconfirmed-writes.ts'
import { WriteTurns } from './write-turns.ts'
import { stampWriter, usageOf } from './writer-stamps.ts'

/** Last known state of a stored account. */
interface Known {
  readonly version: number
  readonly text: string
  /** The stored text, which may differ from `text`; undefined if the account is not stored. */
  readonly stored: string | undefined
}

/** The process that changes an account. */
export interface AccountOwner {
  /** Identifies this start of the process. */
  readonly writer: string
  /** See `QuotaTable`. */
  readonly opening: string | undefined
}

/** An account in this process: its last known state and the changes that wait to be written. */
export class AccountSlot {
  readonly id: AccountId
  /** Terms of the last use, because the policy of an account may change. */
  terms: QuotaTerms
  readonly #writer: string
  readonly #opening: string | undefined
  #known: Known | undefined
  /** Whether `#known` was read for the waiting changes. An older state cannot confirm that a change has no effect. */
  #isFresh = false
  /** Number of the last own write that is known to be applied. */
  #seq = 0
  /** Number of the last own write that was sent. Numbers are never reused. */
  #sentSeq = 0
  /** Last state known to have been stored, used to detect a database that lost writes. */
  #kept: string | undefined
  #waiting: PendingChange[] = []
  #sent: readonly PendingChange[] = []
  #sentText = ''
  /** Restores writes that the database lost. It is written alone, before other changes. */
  #recovery: Recovery | undefined
  readonly #doubts = new UnconfirmedWrites()
  readonly #turns: WriteTurns

  constructor(id: AccountId, terms: QuotaTerms, { writer, opening }: AccountOwner) {
    this.id = id
    this.terms = terms
    this.#writer = writer
    this.#opening = opening
    this.#turns = new WriteTurns(writer)
  }

  get isIdle(): boolean {
    return this.#waiting.length === 0 && this.#sent.length === 0 && !this.#doubts.any
  }

  get hasUnconfirmedWrite(): boolean {
    return this.#doubts.any
  }

  get needsRead(): boolean {
    return this.#known === undefined
  }

  get hasWork(): boolean {
    return this.#waiting.length > 0
  }

  /** Returns how long to wait for this process's turn among the writers of the account, in ms; 0 for no wait. */
  turnMs(now: number, writeMs: number): number {
    const waitMs = this.#turns.waitMs(now, writeMs)
    // other processes will have written by then
    if (waitMs > 0) this.#known = undefined
    return waitMs
  }

  add(change: PendingChange): void {
    if (change.isFirst) this.#waiting.unshift(change)
    else this.#waiting.push(change)
  }

  /** Accepts the account read from the table, undefined if it is not stored. `now` is the database's time. */
  read(stored: StoredAccount | undefined, now: number): void {
    const state = stored ? parseState(stored.state) : emptyState()
    const found = state.writers.find(({ writer }) => writer === this.#writer)?.seq ?? 0
    const version = stored?.version ?? 0
    const kept = this.#kept === undefined ? undefined : parseState(this.#kept)
    this.#recovery = kept && recoveryOf({ stored: state, kept }, now)
    const text = serializeState(this.#recovery?.state ?? state)
    this.#known = { version, text, stored: stored?.state }
    this.#isFresh = true
    this.#seq = Math.max(found, this.#seq)
    // a recovery that is not written yet needs the previous #kept
    if (!this.#recovery) this.#kept = text
    this.#doubts.read(version, found)
    this.#turns.read(state.writers, now)
  }

  /**
   * Returns the next write, at database time `now`; undefined if there is nothing to write, or if the account must be
   * read first because its cached state shows no change.
   */
  compose(now: number): AccountChange | undefined {
    const known = this.#known
    if (!known) return undefined
    // recovered tokens must be stored before other changes may use them
    const changes = this.#recovery ? [] : this.#nextChanges()
    // stored first, so that they fail with the slot if one of them cannot be applied
    this.#sent = changes
    const state = parseState(known.text)
    const before = usageOf(state)
    const account = settledAccount(state, this.terms, now, this.#opening)
    this.#recovery?.apply(account)
    for (const change of changes) change.apply(account)
    // a write with unknown outcome cannot be applied later once this write has taken its version
    const isNeeded = this.#recovery !== undefined || this.#doubts.any || !account.journal.isEmpty
    if (!isNeeded && serializeState(state) === known.text) return this.#unchanged()
    this.#sentSeq = Math.max(this.#sentSeq, this.#seq) + 1
    stampWriter({ before, state, journal: account.journal }, { writer: this.#writer, seq: this.#sentSeq, at: now })
    this.#sentText = serializeState(state)
    this.#turns.composed(state.writers, now)
    const text = this.#sentText
    return accountChange({ id: this.id, known, account, text, token: changes[0]?.token })
  }

  /** Called when the write was applied. */
  written(): void {
    const known = this.#known as Known
    this.#known = { version: known.version + 1, text: this.#sentText, stored: this.#sentText }
    this.#isFresh = false
    this.#seq = this.#sentSeq
    this.#kept = this.#sentText
    this.#recovery = undefined
    this.#doubts.rejectAll()
    this.#turns.written()
    this.#finish()
  }

  /** Called when the write was rejected because the stored state has changed or a token was used. */
  refused(now: number): void {
    this.#turns.refused(now)
    this.#readAgain()
  }

  #readAgain(): void {
    this.#known = undefined
    this.#waiting = [...this.#sent, ...this.#waiting]
    this.#sent = []
  }

  /** Called when the token of the first waiting change was already used. */
  tokenUsed(): void {
    this.#waiting.shift()?.used?.()
  }

  get firstToken(): string | undefined {
    return this.#waiting[0]?.token
  }

  /** Called when a call failed or timed out. If `isSent`, the write may still have been applied. */
  failed(error: unknown, isSent: boolean): void {
    const sent = this.#sent
    this.#sent = []
    if (isSent) this.#doubts.add({ number: this.#sentSeq, version: (this.#known?.version ?? 0) + 1, changes: sent })
    this.#known = undefined
    const waiting = this.#waiting
    this.#waiting = []
    for (const change of [...sent, ...waiting]) change.failed(error)
    // changes that were not sent are not applied
    for (const change of isSent ? waiting : [...sent, ...waiting]) change.settled?.(false)
  }

  /** Takes the changes before the next change with a token, or that change alone if it is the first. */
  #nextChanges(): PendingChange[] {
    const at = this.#waiting.findIndex(({ token }) => token !== undefined)
    return this.#waiting.splice(0, at < 0 ? this.#waiting.length : Math.max(1, at))
  }

  #unchanged(): undefined {
    if (this.#isFresh) this.#finish()
    else this.#readAgain()
    return undefined
  }

  #finish(): void {
    const sent = this.#sent
    this.#sent = []
    this.#isFresh = false
    for (const change of sent) {
      change.done()
      change.settled?.(true)
    }
  }
}
