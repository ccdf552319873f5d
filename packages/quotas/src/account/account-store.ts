import type { AccountId } from '@sluice/counters/backend'
import { TurnBatch } from '@sluice/fleet/backend'
import { KEEP_ALIVE } from '@sluice/limiter-core/backend'
import type { PendingChange } from './account-change.ts'
import type { QuotaTerms } from './account-periods.ts'
import type { AccountSlot } from './account-slot.ts'
import { AccountSlots } from './account-slots.ts'
import type { AccountWrites } from './account-writes.ts'
import type { QuotaAccount } from './quota-account.ts'
import { closedError } from './timed-quota-table.ts'
import { TURN_CLOCK } from './write-turns.ts'

/** Maximum number of accounts in one statement. */
const MAX_AT_ONCE = 256

/**
 * Accepts changes of accounts and schedules their writes. Changes of one event loop turn share a statement. Each change
 * is applied to the last known state of its account, and again to the new state if the stored account has changed.
 */
export class AccountStore {
  readonly #writes: AccountWrites
  readonly #slots: AccountSlots
  /** Accounts that are being written, or wait for it. */
  readonly #busy = new Set<AccountSlot>()
  readonly #batch = new TurnBatch<AccountSlot>((batch) => this.#writeAll(batch.take()))
  /** Accounts that wait for their turn, with functions that cancel the wait. */
  readonly #turns = new Map<AccountSlot, () => void>()
  #idle: (() => void)[] = []
  #connected: Promise<void> | undefined
  #isClosed = false

  constructor(writes: AccountWrites) {
    this.#writes = writes
    this.#slots = new AccountSlots(writes.opening)
  }

  /** Connects to the database, the first time it is called. */
  connect(): void {
    // a database that only this process has is in this process: a call would only delay the first request
    if (this.#writes.opening === undefined) this.#connected ??= this.#writes.connect()
  }

  /** Adds a change, whose callbacks report when it is applied or its outcome is unknown. */
  add(id: AccountId, terms: QuotaTerms, change: PendingChange): void {
    const slot = this.#slots.of(id, terms)
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
    for (const slot of this.#slots.unconfirmed()) this.#schedule(slot)
  }

  /** Resolves when no account has work under way or waiting. */
  async idle(): Promise<void> {
    await this.#connected
    if (this.#busy.size === 0) return
    await new Promise<void>((resolve) => this.#idle.push(resolve))
  }

  /** Aborts all work. Nothing is sent afterwards, and new changes fail. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const [slot, stop] of this.#turns) {
      stop()
      this.#takeTurn(slot)
    }
    this.#writes.close()
    await this.idle()
  }

  #schedule(slot: AccountSlot): void {
    if (this.#busy.has(slot)) return
    if (this.#isClosed) {
      slot.failed(closedError(), false)
      return
    }
    this.#busy.add(slot)
    const waitMs = slot.turnMs(TURN_CLOCK.now(), this.#writes.averageMs)
    if (waitMs === 0) this.#batch.add(slot, queueMicrotask)
    else
      this.#turns.set(
        slot,
        TURN_CLOCK.after(waitMs, () => this.#takeTurn(slot), KEEP_ALIVE),
      )
  }

  #takeTurn(slot: AccountSlot): void {
    this.#turns.delete(slot)
    this.#batch.add(slot, queueMicrotask)
  }

  #writeAll(slots: readonly AccountSlot[]): void {
    for (let from = 0; from < slots.length; from += MAX_AT_ONCE) {
      void this.#write(slots.slice(from, from + MAX_AT_ONCE))
    }
  }

  async #write(slots: readonly AccountSlot[]): Promise<void> {
    await this.#writes.write(slots)
    for (const slot of slots) {
      this.#busy.delete(slot)
      if (slot.hasWork) this.#schedule(slot)
    }
    if (this.#busy.size === 0) for (const resolve of this.#idle.splice(0)) resolve()
  }
}
