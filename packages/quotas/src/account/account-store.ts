import { randomBytes } from 'node:crypto'
import {
  type AccountChange,
  type AccountId,
  accountPlace,
  CallTimeout,
  type QuotaTable,
  unavailableError,
} from '@sluice/counters/backend'
import { TurnBatch } from '@sluice/fleet/backend'
import { type Clock, KEEP_ALIVE, systemClock } from '@sluice/limiter-core/backend'
import { AccountSlot } from './account-slot.ts'
import type { PendingChange } from './pending-change.ts'
import type { QuotaAccount, QuotaTerms } from './quota-account.ts'

/** Number of accounts kept in memory; only idle accounts are evicted. */
const MAX_KEPT = 10_000
/** Maximum number of old accounts examined at each eviction. */
const MAX_EXAMINED = 16
/** Maximum number of accounts in one statement. */
const MAX_AT_ONCE = 256
/** Other processes write in real time, even if a test uses a clock that stands still. */
const TURN_CLOCK = systemClock

export interface AccountStoreOptions {
  readonly clock: Clock
  /** Timeout of a statement, in ms. */
  readonly waitMs: number
  /** Called with notices after they have been written. */
  readonly onNotices: (notices: AccountChange['notices']) => void
}

/**
 * The accounts that this process works on. Changes of one event loop turn share a statement. Each change is applied to
 * the last known state of its account, and again to the new state if the stored account has changed.
 */
export class AccountStore {
  readonly #table: QuotaTable
  readonly #options: AccountStoreOptions
  readonly #deadline: CallTimeout
  /** Identifies this start of this process. */
  readonly #writer: string = randomBytes(9).toString('base64url')
  /** Slots by name and key, the least recently used first. */
  readonly #slots = new Map<string, AccountSlot>()
  readonly #busy = new Set<AccountSlot>()
  readonly #batch = new TurnBatch<AccountSlot>((batch) => this.#workAll(batch.take()))
  #offsetMs: number | undefined
  #idle: (() => void)[] = []
  /** Moving average of the time to read and write an account, in ms. */
  #writeMs = 2
  /** Accounts that wait for their turn, with functions that cancel the wait. */
  readonly #turns = new Map<AccountSlot, () => void>()
  #isClosed = false

  constructor(table: QuotaTable, options: AccountStoreOptions) {
    this.#table = table
    this.#options = options
    this.#deadline = new CallTimeout(options.clock, options.waitMs)
  }

  /** Time of the database, or slightly earlier; undefined before its first reply. */
  get now(): number | undefined {
    return this.#offsetMs === undefined ? undefined : this.#options.clock.now() + this.#offsetMs
  }

  /** Difference between the database's time and the process clock, or slightly less. */
  get offsetMs(): number {
    return this.#offsetMs ?? this.#options.clock.wall() - this.#options.clock.now()
  }

  /** Adds a change, whose callbacks report when it is applied or its outcome is unknown. */
  add(id: AccountId, terms: QuotaTerms, change: PendingChange): void {
    const slot = this.#slotOf(id, terms)
    slot.add(change)
    this.#schedule(slot)
  }

  /**
   * Applies a change. Resolves with the result of `apply` once it is stored, or with that of `used` if the token was
   * used before. If the outcome is unknown, rejects at once; with `certain`, only once the change is known not to be
   * applied.
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

  /** Determines the outcome of writes without a reply. */
  settleUnconfirmedWrites(): void {
    if (this.#isClosed) return
    for (const slot of this.#slots.values()) if (slot.hasUnconfirmedWrite) this.#schedule(slot)
  }

  /** Resolves when no account has work under way or waiting. */
  idle(): Promise<void> {
    if (this.#busy.size === 0) return Promise.resolve()
    return new Promise((resolve) => this.#idle.push(resolve))
  }

  /** Aborts all work. Nothing is sent afterwards, and new changes fail. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const [slot, stop] of this.#turns) {
      stop()
      this.#takeTurn(slot)
    }
    this.#deadline.end(closedStore())
    await this.idle()
  }

  #failIfClosed(slot: AccountSlot): boolean {
    if (this.#isClosed) slot.failed(closedStore(), false)
    return this.#isClosed
  }

  /** Runs a table call with a timeout. Rejects without calling the table after `close`. */
  async #call<T>(call: () => Promise<T>): Promise<T> {
    if (this.#isClosed) throw closedStore()
    return this.#deadline.within(call())
  }

  #slotOf(id: AccountId, terms: QuotaTerms): AccountSlot {
    const at = accountPlace(id)
    const slot = this.#slots.get(at) ?? new AccountSlot(id, terms, this.#writer)
    this.#slots.delete(at)
    this.#slots.set(at, slot)
    if (this.#slots.size > MAX_KEPT) this.#evict()
    return slot
  }

  /**
   * Evicts idle accounts among the oldest. It examines more than one account per added account, so that the number
   * shrinks again after a flood of keys.
   */
  #evict(): void {
    let examined = 0
    for (const [at, slot] of this.#slots) {
      if (examined++ === MAX_EXAMINED || this.#slots.size <= MAX_KEPT) return
      this.#slots.delete(at)
      if (!slot.isIdle) this.#slots.set(at, slot)
    }
  }

  #takeTurn(slot: AccountSlot): void {
    this.#turns.delete(slot)
    this.#batch.add(slot, queueMicrotask)
  }

  #schedule(slot: AccountSlot): void {
    if (this.#busy.has(slot) || this.#failIfClosed(slot)) return
    this.#busy.add(slot)
    const waitMs = slot.turnMs(TURN_CLOCK.now(), this.#writeMs)
    if (waitMs === 0) this.#batch.add(slot, queueMicrotask)
    else
      this.#turns.set(
        slot,
        TURN_CLOCK.after(waitMs, () => this.#takeTurn(slot), KEEP_ALIVE),
      )
  }

  #workAll(slots: readonly AccountSlot[]): void {
    for (let from = 0; from < slots.length; from += MAX_AT_ONCE) {
      void this.#work(slots.slice(from, from + MAX_AT_ONCE))
    }
  }

  /** Reads and writes accounts. Never rejects. */
  async #work(slots: readonly AccountSlot[]): Promise<void> {
    const sent = new Set<AccountSlot>()
    const from = TURN_CLOCK.now()
    try {
      const unread = slots.filter((slot) => slot.needsRead)
      if (unread.length > 0) await this.#read(unread)
      const composed = this.#composed(slots)
      for (const [slot] of composed) sent.add(slot)
      const refused = composed.length > 0 ? await this.#commit(composed) : []
      // from here on the outcome of each write is known
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
    if (this.#busy.size === 0) for (const resolve of this.#idle.splice(0)) resolve()
  }

  async #read(slots: readonly AccountSlot[]): Promise<void> {
    const { now, accounts } = await this.#call(() => this.#table.read(slots.map(({ id }) => id)))
    this.#updateOffset(now)
    const found = new Map(accounts.map((account) => [accountPlace(account), account]))
    for (const slot of slots) {
      const stored = found.get(accountPlace(slot.id))
      try {
        slot.read(stored, now)
      } catch (error) {
        // a state written by a later release fails this account only
        slot.failed(error, false)
      }
    }
  }

  #composed(slots: readonly AccountSlot[]): (readonly [AccountSlot, AccountChange])[] {
    const now = this.now as number
    return slots.flatMap((slot) => {
      const change = slot.hasWork || slot.hasUnconfirmedWrite ? slot.compose(now) : undefined
      return change ? [[slot, change] as const] : []
    })
  }

  /** Commits writes. Returns the slots whose write was rejected, possibly because of a token. */
  async #commit(composed: readonly (readonly [AccountSlot, AccountChange])[]): Promise<readonly AccountSlot[]> {
    const changes = composed.map(([, change]) => change)
    const { now, written } = await this.#call(() => this.#table.commit(changes))
    this.#updateOffset(now)
    for (const [index, [slot, change]] of composed.entries()) {
      if (!written[index]) slot.refused(TURN_CLOCK.now())
      else {
        slot.written()
        if (change.notices.length > 0) this.#options.onNotices(change.notices)
      }
    }
    return composed.flatMap(([slot], index) => (written[index] ? [] : [slot]))
  }

  /** Checks whether a change was rejected because of its token. If the check fails, only this account fails. */
  async #findToken(slot: AccountSlot): Promise<void> {
    const { firstToken } = slot
    if (firstToken === undefined) return
    try {
      const used = await this.#call(() => this.#table.usedToken(slot.id, firstToken))
      if (used) slot.tokenUsed()
    } catch (error) {
      slot.failed(error, false)
    }
  }

  #updateOffset(now: number): void {
    this.#offsetMs = now - this.#options.clock.now()
  }
}

function closedStore(): Error {
  return unavailableError('the quotas are closed')
}
