import { randomBytes } from 'node:crypto'
import {
  type AccountChange,
  type AccountId,
  accountPlace,
  type StoredEntry,
  unavailableError,
} from '@sluice/counters/backend'
import { pause } from '@sluice/limiter-core/backend'
import { accountChange, settledAccount } from './account-change.ts'
import type { QuotaTerms } from './account-periods.ts'
import type { DatabaseTime } from './database-time.ts'
import type { QuotaAccount } from './quota-account.ts'
import { emptyState, parseState, type QuotaState, serializeState } from './quota-state.ts'
import type { TimedQuotaTable } from './timed-quota-table.ts'
import { TURN_CLOCK, WriteTurns } from './write-turns.ts'
import { stampWriter, usageOf } from './writer-stamps.ts'

/** Time that reading and writing a group takes, from which the waits between rejected writes are derived. */
const WRITE_MS = 2

/** One account of a group. */
export interface GroupMember {
  readonly id: AccountId
  readonly terms: QuotaTerms
}

/** A change of several accounts, of which all are written or none. */
export interface GroupChange<R> {
  /** The accounts; the token belongs to the first. */
  readonly members: readonly GroupMember[]
  /** Makes the change count only once. */
  readonly token: string | undefined
  /**
   * Changes the accounts. Returns its result, and how many accounts are written, counted from the first. It is called
   * again with the new states if an account has changed.
   */
  readonly apply: (accounts: readonly QuotaAccount[]) => { readonly result: R; readonly writes: number }
  /** Returns the result of an earlier change with the token. Required if `token` is given. */
  readonly used?: (entry: StoredEntry) => R
}

export interface AccountGroupsOptions {
  readonly table: TimedQuotaTable
  /** Receives the time in each reply. */
  readonly time: DatabaseTime
  readonly waitMs: number
  /** Called with notices after they have been written. */
  readonly onNotices: (notices: AccountChange['notices']) => void
}

interface ReadMember extends GroupMember {
  readonly known: { readonly version: number; readonly stored: string | undefined }
  readonly state: QuotaState
  readonly account: QuotaAccount
}

/**
 * Changes several accounts in one statement, each time from their stored states. A change whose outcome is unknown
 * rejects; repeated with its token, it counts once. Changes of one group take turns in this process.
 */
export class AccountGroups {
  readonly #options: AccountGroupsOptions
  /** Identifies this process in the accounts, beside the writer of single accounts. */
  readonly #writer = randomBytes(9).toString('base64url')
  #seq = 0
  /** The last change of each group that is under way. */
  readonly #last = new Map<string, Promise<unknown>>()

  constructor(options: AccountGroupsOptions) {
    this.#options = options
  }

  /**
   * Applies a change. Rejects with `SLUICE_COUNTERS_UNAVAILABLE` if the database does not reply, or if other processes
   * change the accounts for longer than the timeout of a statement.
   */
  async change<R>(change: GroupChange<R>): Promise<R> {
    const place = accountPlace(change.members[0].id)
    const before = this.#last.get(place)
    const done = (before ?? Promise.resolve()).then(() => this.#change(change))
    const settled = done.catch(() => {})
    this.#last.set(place, settled)
    try {
      return await done
    } finally {
      if (this.#last.get(place) === settled) this.#last.delete(place)
    }
  }

  /** Returns the entry of a token of an account; undefined if the token is unused. */
  usedToken(id: AccountId, token: string): Promise<StoredEntry | undefined> {
    return this.#options.table.usedToken(id, token)
  }

  /** Resolves when no change is under way. */
  async idle(): Promise<void> {
    while (this.#last.size > 0) await Promise.all(this.#last.values())
  }

  async #change<R>(change: GroupChange<R>): Promise<R> {
    const turns = new WriteTurns(this.#writer)
    const { waitMs } = this.#options
    const until = TURN_CLOCK.now() + waitMs
    for (;;) {
      const read = await this.#read(change.members)
      turns.read(read[0].state.writers, read[0].account.now)
      const tried = await this.#try(change, read)
      if (tried) return tried.result
      if (TURN_CLOCK.now() >= until) throw unavailableError(`other processes changed the quotas for ${waitMs} ms`)
      turns.refused(TURN_CLOCK.now())
      await pause(turns.waitMs(TURN_CLOCK.now(), WRITE_MS), TURN_CLOCK)
    }
  }

  /** Applies a change to accounts as they were read. Returns undefined if they have changed since then. */
  async #try<R>(
    { token, apply, used }: GroupChange<R>,
    read: readonly ReadMember[],
  ): Promise<{ readonly result: R } | undefined> {
    const { result, writes } = apply(read.map(({ account }) => account))
    if (writes > 0 && (await this.#commit(read.slice(0, writes), token))) return { result }
    // an earlier change with this token may be why the write was rejected, or why there is nothing to write
    const entry = token === undefined ? undefined : await this.usedToken(read[0].id, token)
    if (entry && used) return { result: used(entry) }
    return writes === 0 ? { result } : undefined
  }

  /** Writes all accounts. Returns whether they were written. */
  async #commit(members: readonly ReadMember[], token: string | undefined): Promise<boolean> {
    const { table, time, onNotices } = this.#options
    const changes = members.map((member, index) => this.#compose(member, index === 0 ? token : undefined))
    const { now, written } = await table.commit(changes, true)
    time.replied(now)
    if (!written[0]) return false
    for (const { notices } of changes) if (notices.length > 0) onNotices(notices)
    return true
  }

  async #read(members: readonly GroupMember[]): Promise<readonly ReadMember[]> {
    const { table, time } = this.#options
    const { now, accounts } = await table.read(members.map(({ id }) => id))
    time.replied(now)
    const found = new Map(accounts.map((account) => [accountPlace(account), account]))
    return members.map((member) => {
      const stored = found.get(accountPlace(member.id))
      const state = stored ? parseState(stored.state) : emptyState()
      const account = settledAccount(state, member.terms, now, table.opening)
      return { ...member, known: { version: stored?.version ?? 0, stored: stored?.state }, state, account }
    })
  }

  #compose({ id, known, state, account }: ReadMember, token: string | undefined): AccountChange {
    const { journal, now } = account
    const seq = ++this.#seq
    // not recorded as charges of this process: after a failover that lost them, they are repeated under their tokens
    stampWriter({ before: usageOf(state), state, journal }, { writer: this.#writer, seq, at: now })
    return accountChange({ id, known, account, text: serializeState(state), token })
  }
}
