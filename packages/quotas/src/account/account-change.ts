import { type AccountChange, type AccountId, stateHash } from '@sluice/counters/backend'
import { settleLeases } from './account-leases.ts'
import { expireReservations } from './account-reservations.ts'
import { QuotaAccount, type QuotaTerms } from './quota-account.ts'
import type { QuotaState } from './quota-state.ts'

/** A changed account and the stored account that it is based on. */
export interface ChangedAccount {
  readonly id: AccountId
  readonly terms: QuotaTerms
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
export function accountChange({ id, terms, known, account, text, token }: ChangedAccount): AccountChange {
  const { journal, dueAt, now } = account
  const notices = journal.notices.map((notice) => ({ ...notice, ...id, id: noticeId(id, notice) }))
  return {
    ...id,
    version: known.version + 1,
    basedOn: known.stored && stateHash(known.stored),
    state: text,
    from: terms.periods.hourAt(now),
    // an hour of which a part is repeated is longer than 60 minutes
    until: Math.min(terms.periods.sameHourUntil(now), terms.periods.at(now).endsAt),
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
