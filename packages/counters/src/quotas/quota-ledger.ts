import type { LeaseAsk, LeaseGrant, LeaseLedger } from '@sluice/limiter-core/leases'
import { askLease, type QuotaLeaseTerms } from './account-leases.ts'
import type { AccountStore } from './account-store.ts'
import { accountOf, type QuotaCounter } from './quota-counter.ts'

/** Leases of quotas, stored in their accounts. */
export class QuotaLedger implements LeaseLedger {
  readonly #store: AccountStore
  readonly #terms: QuotaLeaseTerms

  constructor(store: AccountStore, terms: QuotaLeaseTerms) {
    this.#store = store
    this.#terms = terms
  }

  ask(asks: readonly LeaseAsk[]): Promise<readonly (LeaseGrant | Error)[]> {
    return Promise.all(
      asks.map((ask) => {
        const { terms, limit } = ask.counter as QuotaCounter
        const apply = (account: Parameters<typeof askLease>[0]): LeaseGrant =>
          askLease(account.open(limit), ask, this.#terms)
        return this.#store.change(accountOf(ask), terms, { apply }).catch((error: Error) => error)
      }),
    )
  }
}
