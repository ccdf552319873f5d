import type { QuotaTable } from '@sluice/counters/backend'
import { SluiceError } from '@sluice/limiter-core/backend'
import {
  endReservation,
  endToken,
  type ReservationEnd,
  reserveToken,
  reserveUnits,
} from './account/account-reservations.ts'
import type { AccountStore } from './account/account-store.ts'
import type { QuotaAccount } from './account/quota-account.ts'
import type { ReservationState } from './account/quota-state.ts'
import { accountOf, type QuotaCounter } from './quota-counter.ts'

/** Units reserved for one purpose until they are posted, voided or expire. */
export interface QuotaReservation {
  readonly id: string
  readonly units: number
  /** When the reservation expires and unposted units are released, in epoch ms of the database's clock. */
  readonly endsAt: number
}

export interface ReservedUnits {
  readonly id: string
  readonly units: number
  readonly ttlMs: number
}

/** Two-phase charges: reserve units, then post the units really used, or void. Each phase happens exactly once. */
export class QuotaReservations {
  readonly #store: AccountStore
  readonly #table: QuotaTable

  constructor(store: AccountStore, table: QuotaTable) {
    this.#store = store
    this.#table = table
  }

  /**
   * Reserves units; undefined if they do not fit. The same id returns the same reservation until it ends. Throws
   * `SLUICE_TOKEN_REUSED` if the reservation of the id has ended.
   */
  async reserve(counter: QuotaCounter, key: string, reserved: ReservedUnits): Promise<QuotaReservation | undefined> {
    const id = accountOf({ key, counter })
    const { limit } = counter
    const token = reserveToken(reserved.id)
    const reservation = await this.#store.change<ReservationState | undefined>(id, counter.termsOf(key), {
      token,
      apply: (account) => reserveUnits(account.open(account.lastLimit ?? limit), reserved),
      used: ended,
    })
    // a reservation that does not fit is not written, so its token has not been checked
    if (!reservation && (await this.#table.usedToken(id, token))) ended()
    return reservation
  }

  /** Ends a reservation and returns how it ended, now or earlier. Throws `SLUICE_NO_RESERVATION`. */
  async end(counter: QuotaCounter, key: string, id: string, units: number | undefined): Promise<ReservationEnd> {
    const account = accountOf({ key, counter })
    const apply = (one: QuotaAccount) => endReservation(one, id, units)
    const ended = await this.#store.change(account, counter.termsOf(key), { apply })
    if (ended) return ended
    const before = await this.#table.usedToken(account, endToken(id))
    if (before) return before.kind as ReservationEnd
    throw new SluiceError(
      'SLUICE_NO_RESERVATION',
      'reservation: expected an id returned by reserve() for this key, received an unknown id',
    )
  }
}

function ended(): never {
  const message = 'reservation: expected a new id, received the id of a reservation that has ended'
  throw new SluiceError('SLUICE_TOKEN_REUSED', message)
}
