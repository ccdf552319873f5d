import type { LeaseGrant, LeaseLedger, LeaseRequest, LeaseTerms } from '@sluice/fleet/leases'
import { requestLease } from './account/account-leases.ts'
import type { AccountStore } from './account/account-store.ts'
import { accountOf, type QuotaCounter } from './quota-counter.ts'

/** Leases of quotas, stored in their accounts. */
export class QuotaLedger implements LeaseLedger {
  readonly #store: AccountStore
  readonly #terms: LeaseTerms

  constructor(store: AccountStore, terms: LeaseTerms) {
    this.#store = store
    this.#terms = terms
  }

  request(asks: readonly LeaseRequest[]): Promise<readonly (LeaseGrant | Error)[]> {
    return Promise.all(
      asks.map((ask) => {
        const counter = ask.counter as QuotaCounter
        const { key } = ask
        const apply = (account: Parameters<typeof requestLease>[0]): LeaseGrant =>
          requestLease(account.open(counter.limit), ask, this.#terms)
        const changed = this.#store.change(accountOf({ key, counter }), counter.termsOf(key), { apply })
        return changed.catch((error: Error) => error)
      }),
    )
  }
}
