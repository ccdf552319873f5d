import { type AccountChange, type AccountId, stateHash } from '@sluice/counters/backend'
import { settleLeases } from './account-leases.ts'
import type { QuotaTerms } from './account-periods.ts'
import { expireReservations } from './account-reservations.ts'
import { QuotaAccount } from './quota-account.ts'
import type { QuotaState } from './quota-state.ts'

/** A change of an account, with callbacks that report its outcome. */
export interface PendingChange {
  /** Makes the change count only once. A change with a token is written alone. */
  readonly token?: string | undefined
  /** Whether the change is applied before the changes that wait already. Only without a token. Default: false. */
  readonly isFirst?: boolean
  /**
   * Changes an account whose ended leases are settled. It is called again with the new state if the account has
   * changed.
   */
  apply(account: QuotaAccount): void
  /** Called when the change has been applied. */
  done(): void
  /** Called if the token was used before. */
  used?(): void
  /** Called if the change failed or its outcome is unknown; `settled` then reports whether it was applied. */
  failed(error: unknown): void
  settled?(stands: boolean): void
}

/** A changed account and the stored account that it is based on. */
export interface ChangedAccount {
  readonly id: AccountId
  /** Stored version, 0 for a new account, and stored text. */
  readonly known: { readonly version: number; readonly stored: string | undefined }
  readonly account: QuotaAccount
  /** The new state, serialized. */
  readonly text: string
  readonly token: string | undefined
}

/** Returns the account of a state at `now`, with its ended leases and reservations settled. */
export function settledAccount(
  state: QuotaState,
  terms: QuotaTerms,
  now: number,
  opening: string | undefined,
): QuotaAccount {
  const account = new QuotaAccount(state, terms, now, opening)
  settleLeases(account)
  expireReservations(account)
  return account
}

/** Returns the write of a changed account, which is valid in the hour and the period of the account's time. */
export function accountChange({ id, known, account, text, token }: ChangedAccount): AccountChange {
  const { journal, dueAt } = account
  const notices = journal.notices.map((notice) => ({ ...notice, ...id, id: noticeId(id, notice) }))
  return {
    ...id,
    version: known.version + 1,
    basedOn: known.stored && stateHash(known.stored),
    state: text,
    ...account.writable,
    dueAt,
    token,
    entries: journal.entries,
    usage: journal.usage,
    notices,
  }
}

function noticeId({ name, key }: AccountId, { period, threshold }: { period: string; threshold: number }): string {
  return `${name}/${period}/${threshold}/${key}`
}
