import { type AccountChange, accountPlace, unavailableError } from '@sluice/counters/backend'
import { messageOf } from '@sluice/limiter-core/backend'
import type { AccountSlot } from './account-slot.ts'
import type { DatabaseTime } from './database-time.ts'
import type { TimedQuotaTable } from './timed-quota-table.ts'
import { TURN_CLOCK } from './write-turns.ts'

export interface AccountWritesOptions {
  readonly table: TimedQuotaTable
  /** Receives the time in each reply. */
  readonly time: DatabaseTime
  /** Called with notices after they have been written. */
  readonly onNotices: (notices: AccountChange['notices']) => void
}

/** Reads accounts from the table and writes their changes. Accounts that are written together share a statement. */
export class AccountWrites {
  readonly #options: AccountWritesOptions
  #averageMs = 2

  constructor(options: AccountWritesOptions) {
    this.#options = options
  }

  /** See `QuotaTable`. */
  get opening(): string | undefined {
    return this.#options.table.opening
  }

  /** Moving average of the time to read and write an account, in ms. */
  get averageMs(): number {
    return this.#averageMs
  }

  /** Makes the first call, so that no request waits for a connection. Never rejects. */
  async connect(): Promise<void> {
    try {
      const { table, time } = this.#options
      const { now } = await table.read([])
      time.replied(now)
    } catch {
      // a request meets the same failure and reports it
    }
  }

  /** Writes the waiting changes of accounts, which are read first if needed. Never rejects. */
  async write(slots: readonly AccountSlot[]): Promise<void> {
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
      if (composed.length > 0) this.#averageMs += (TURN_CLOCK.now() - from - this.#averageMs) / 8
      await Promise.all(refused.map((slot) => this.#findToken(slot)))
    } catch (error) {
      for (const slot of slots) slot.failed(error, sent.has(slot))
    }
  }

  /** Rejects the calls under way. Nothing is sent afterwards. */
  close(): void {
    this.#options.table.close()
  }

  async #read(slots: readonly AccountSlot[]): Promise<void> {
    const { table, time } = this.#options
    const { now, accounts } = await table.read(slots.map(({ id }) => id))
    time.replied(now)
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
    const now = this.#options.time.now as number
    return slots.flatMap((slot) => {
      try {
        const change = slot.hasWork || slot.hasUnconfirmedWrite ? slot.compose(now) : undefined
        return change ? [[slot, change] as const] : []
      } catch (error) {
        // e.g. a time that no calendar contains
        const message = `the quota account cannot be changed: ${messageOf(error)}`
        slot.failed(unavailableError(message, { cause: error }), false)
        return []
      }
    })
  }

  /** Commits writes. Returns the slots whose write was rejected, possibly because of a token. */
  async #commit(composed: readonly (readonly [AccountSlot, AccountChange])[]): Promise<readonly AccountSlot[]> {
    const { table, time, onNotices } = this.#options
    const changes = composed.map(([, change]) => change)
    const { now, written } = await table.commit(changes)
    time.replied(now)
    for (const [index, [slot, change]] of composed.entries()) {
      if (!written[index]) slot.refused(TURN_CLOCK.now())
      else {
        slot.written()
        if (change.notices.length > 0) onNotices(change.notices)
      }
    }
    return composed.flatMap(([slot], index) => (written[index] ? [] : [slot]))
  }

  /** Checks whether a change was rejected because of its token. If the check fails, only this account fails. */
  async #findToken(slot: AccountSlot): Promise<void> {
    const { firstToken } = slot
    if (firstToken === undefined) return
    try {
      const used = await this.#options.table.usedToken(slot.id, firstToken)
      if (used) slot.tokenUsed()
    } catch (error) {
      slot.failed(error, false)
    }
  }
}
