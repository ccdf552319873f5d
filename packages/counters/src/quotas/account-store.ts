import { randomBytes } from 'node:crypto'
import { AWAITED, type Clock, systemClock, TurnBatch } from '@sluice/limiter-core/backend'
import { accountPlace } from '../ledger/account-place.ts'
import { AnswerDeadline } from '../ledger/answer-deadline.ts'
import type { AccountChange, AccountId, QuotaTable } from '../ledger/quota-table.ts'
import { unanswered } from '../unanswered.ts'
import { AccountSlot } from './account-slot.ts'
import type { PendingChange } from './pending-change.ts'
import type { QuotaAccount, QuotaTerms } from './quota-account.ts'

/** Accounts of which a process remembers what it last knew. */
const MOST_KEPT = 10_000
/** How many old accounts are looked at for some that nobody waits for. */
const LOOKED_AT = 16
/** Accounts in one statement. */
const MOST_AT_ONCE = 256
/** Others write in the time of the machine, also where a test has a clock of its own that stands still. */
const TURN_CLOCK = systemClock

export interface AccountStoreOptions {
  readonly clock: Clock
  /** How long a statement may take, in ms. */
  readonly waitMs: number
  /** Told of every notice that was written. */
  readonly noticed: (notices: AccountChange['notices']) => void
}

/**
 * The accounts that this process works on. Changes of one turn of the event loop go in one statement; each is applied to
 * what is known of its account, and applied again where that has changed meanwhile.
 */
export class AccountStore {
  readonly #table: QuotaTable
  readonly #options: AccountStoreOptions
  readonly #deadline: AnswerDeadline
  /** Of this start of this process. */
  readonly #writer: string = randomBytes(9).toString('base64url')
  /** By name and key; those that were used last are at the end. */
  readonly #slots = new Map<string, AccountSlot>()
  readonly #busy = new Set<AccountSlot>()
  readonly #batch = new TurnBatch<AccountSlot>((batch) => this.#workAll(batch.take()))
  #offsetMs: number | undefined
  #idle: (() => void)[] = []
  /** How long it takes to read an account and to write it, of late. */
  #writeMs = 2
  /** Of those who wait for their turn: what stops that. */
  readonly #turns = new Map<AccountSlot, () => void>()
  #isClosed = false

  constructor(table: QuotaTable, options: AccountStoreOptions) {
    this.#table = table
    this.#options = options
    this.#deadline = new AnswerDeadline(options.clock, options.waitMs)
  }

  /** By the clock of the database, or a little before; undefined until it answered. */
  get now(): number | undefined {
    return this.#offsetMs === undefined ? undefined : this.#options.clock.now() + this.#offsetMs
  }

  /** What to add to a reading of the process clock for one of the database, or a little less. */
  get offsetMs(): number {
    return this.#offsetMs ?? this.#options.clock.wall() - this.#options.clock.now()
  }

  /** Settles when the change stands, or nobody knows. */
  add(id: AccountId, terms: QuotaTerms, change: PendingChange): void {
    const slot = this.#slotOf(id, terms)
    slot.add(change)
    this.#schedule(slot)
  }

  /**
   * Resolves with what `apply` answered when it stood; `used` answers in its place where the token was used before. Rejects
   * where nobody knows whether it stands, `certain` ones when it is known not to.
   */
  change<R>(
    id: AccountId,
    terms: QuotaTerms,
    {
      apply,
      token,
      used,
      certain = false,
    }: Pick<PendingChange, 'token'> & {
      readonly apply: (account: QuotaAccount) => R
      readonly used?: () => R | Promise<R>
      readonly certain?: boolean
    },
  ): Promise<R> {
    return new Promise((resolve, reject) => {
      let result: R
      let failure: unknown
      this.add(id, terms, {
        token,
        apply: (account) => {
          result = apply(account)
        },
        done: () => resolve(result),
        used: () => {
          try {
            resolve(used?.() as R)
          } catch (error) {
            reject(error)
          }
        },
        failed: (error) => {
          failure = error
          if (!certain) reject(error)
        },
        settled: (stands) => (stands ? resolve(result) : reject(failure)),
      })
    })
  }

  /** Finds out what became of writes without an answer. */
  settleDoubts(): void {
    if (this.#isClosed) return
    for (const slot of this.#slots.values()) if (slot.hasDoubt) this.#schedule(slot)
  }

  /** When nothing is under way, nor waits to be. */
  idle(): Promise<void> {
    if (this.#busy.size === 0) return Promise.resolve()
    return new Promise((resolve) => this.#idle.push(resolve))
  }

  /** Gives up what is under way; nothing is sent from here on, and what is asked fails. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const [slot, stop] of this.#turns) {
      stop()
      this.#takeTurn(slot)
    }
    this.#deadline.end(closedStore())
    await this.idle()
  }

  #refusesNow(slot: AccountSlot): boolean {
    if (this.#isClosed) slot.failed(closedStore(), false)
    return this.#isClosed
  }

  /** Sends nothing once this is closed. */
  async #ask<T>(call: () => Promise<T>): Promise<T> {
    if (this.#isClosed) throw closedStore()
    return this.#deadline.within(call())
  }

  #slotOf(id: AccountId, terms: QuotaTerms): AccountSlot {
    const at = accountPlace(id)
    const slot = this.#slots.get(at) ?? new AccountSlot(id, terms, this.#writer)
    this.#slots.delete(at)
    this.#slots.set(at, slot)
    if (this.#slots.size > MOST_KEPT) this.#forget()
    return slot
  }

  /** Of the oldest those that nobody waits for: more than come, so that a crowd is forgotten when it is over. */
  #forget(): void {
    let looked = 0
    for (const [at, slot] of this.#slots) {
      if (looked++ === LOOKED_AT || this.#slots.size <= MOST_KEPT) return
      this.#slots.delete(at)
      if (!slot.isIdle) this.#slots.set(at, slot)
    }
  }

  #takeTurn(slot: AccountSlot): void {
    this.#turns.delete(slot)
    this.#batch.add(slot, queueMicrotask)
  }

  #schedule(slot: AccountSlot): void {
    if (this.#busy.has(slot) || this.#refusesNow(slot)) return
    this.#busy.add(slot)
    const waitMs = slot.turnMs(TURN_CLOCK.now(), this.#writeMs)
    if (waitMs === 0) this.#batch.add(slot, queueMicrotask)
    else
      this.#turns.set(
        slot,
        TURN_CLOCK.after(waitMs, () => this.#takeTurn(slot), AWAITED),
      )
  }

  #workAll(slots: readonly AccountSlot[]): void {
    for (let from = 0; from < slots.length; from += MOST_AT_ONCE) {
      void this.#work(slots.slice(from, from + MOST_AT_ONCE))
    }
  }

  /** Never rejects. */
  async #work(slots: readonly AccountSlot[]): Promise<void> {
    const sent = new Set<AccountSlot>()
    const from = TURN_CLOCK.now()
    try {
      const unread = slots.filter((slot) => slot.needsRead)
      if (unread.length > 0) await this.#read(unread)
      const composed = this.#composed(slots)
      for (const [slot] of composed) sent.add(slot)
      const refused = composed.length > 0 ? await this.#commit(composed) : []
      // from here on it is known what became of each write
      sent.clear()
      if (composed.length > 0) this.#writeMs += (TURN_CLOCK.now() - from - this.#writeMs) / 8
      await Promise.all(refused.map((slot) => this.#findToken(slot)))
    } catch (error) {
      for (const slot of slots) slot.failed(error, sent.has(slot))
    }
    this.#finish(slots)
  }

  #finish(slots: readonly AccountSlot[]): void {
    for (const slot of slots) {
      this.#busy.delete(slot)
      if (slot.hasWork) this.#schedule(slot)
    }
    if (this.#busy.size === 0) for (const tell of this.#idle.splice(0)) tell()
  }

  async #read(slots: readonly AccountSlot[]): Promise<void> {
    const { now, accounts } = await this.#ask(() => this.#table.read(slots.map(({ id }) => id)))
    this.#heard(now)
    const found = new Map(accounts.map((account) => [accountPlace(account), account]))
    for (const slot of slots) {
      const stored = found.get(accountPlace(slot.id))
      try {
        slot.read(stored, now)
      } catch (error) {
        // a state of a later release keeps this account alone
        slot.failed(error, false)
      }
    }
  }

  #composed(slots: readonly AccountSlot[]): (readonly [AccountSlot, AccountChange])[] {
    const now = this.now as number
    return slots.flatMap((slot) => {
      const change = slot.hasWork || slot.hasDoubt ? slot.compose(now) : undefined
      return change ? [[slot, change] as const] : []
    })
  }

  /** Answers those whose write was refused, maybe for its token. */
  async #commit(composed: readonly (readonly [AccountSlot, AccountChange])[]): Promise<readonly AccountSlot[]> {
    const changes = composed.map(([, change]) => change)
    const { now, written } = await this.#ask(() => this.#table.commit(changes))
    this.#heard(now)
    for (const [index, [slot, change]] of composed.entries()) {
      if (!written[index]) slot.refused(TURN_CLOCK.now())
      else {
        slot.written()
        if (change.notices.length > 0) this.#options.noticed(change.notices)
      }
    }
    return composed.flatMap(([slot], index) => (written[index] ? [] : [slot]))
  }

  /** Of a change that was refused: was it for its token? Where nobody answers, this account alone is at fault. */
  async #findToken(slot: AccountSlot): Promise<void> {
    const { firstToken } = slot
    if (firstToken === undefined) return
    try {
      const used = await this.#ask(() => this.#table.usedToken(slot.id, firstToken))
      if (used) slot.tokenUsed()
    } catch (error) {
      slot.failed(error, false)
    }
  }

  #heard(now: number): void {
    this.#offsetMs = now - this.#options.clock.now()
  }
}

function closedStore(): Error {
  return unanswered('these quotas are closed')
}
