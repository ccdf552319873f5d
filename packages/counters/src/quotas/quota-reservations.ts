import { SluiceError } from '@sluice/limiter-core/backend'
import type { QuotaTable } from '../ledger/quota-table.ts'
import { endReservation, endToken, type ReservationEnd, reserveToken, reserveUnits } from './account-reservations.ts'
import type { AccountStore } from './account-store.ts'
import { accountOf, type QuotaCounter } from './quota-counter.ts'
import type { ReservationState } from './quota-state.ts'

/** Units that are set aside for one purpose until they are posted or voided, or end by themselves. */
export interface QuotaReservation {
  readonly id: string
  readonly units: number
  /** Epoch ms of the database's clock: by then what was not posted is free again. */
  readonly endsAt: number
}

export interface ReservedUnits {
  readonly id: string
  readonly units: number
  readonly forMs: number
}

/** Reserve, then post what was really used, or void: two phases, each exactly once. */
export class QuotaReservations {
  readonly #store: AccountStore
  readonly #table: QuotaTable

  constructor(store: AccountStore, table: QuotaTable) {
    this.#store = store
    this.#table = table
  }

  /** Undefined where the units do not fit. The same id again answers the same reservation, while it stands. */
  async reserve(counter: QuotaCounter, key: string, reserved: ReservedUnits): Promise<QuotaReservation | undefined> {
    const id = accountOf({ key, counter })
    const { terms, limit } = counter
    const token = reserveToken(reserved.id)
    const reservation = await this.#store.change<ReservationState | undefined>(id, terms, {
      token,
      apply: (account) => reserveUnits(account.open(account.lastLimit ?? limit), reserved),
      used: ended,
    })
    // what does not fit writes nothing, and so nobody looked for its token
    if (!reservation && (await this.#table.usedToken(id, token))) ended()
    return reservation
  }

  /** Answers how it ended, now or before. Throws `SLUICE_NO_RESERVATION`. */
  async end(counter: QuotaCounter, key: string, id: string, units: number | undefined): Promise<ReservationEnd> {
    const account = accountOf({ key, counter })
    const ended = await this.#store.change(account, counter.terms, { apply: (one) => endReservation(one, id, units) })
    if (ended) return ended
    const before = await this.#table.usedToken(account, endToken(id))
    if (before) return before.kind as ReservationEnd
    throw new SluiceError(
      'SLUICE_NO_RESERVATION',
      'reservation: expected one that reserve() answered, received an id that nobody reserved for this key',
    )
  }
}

function ended(): never {
  const message = 'reservation: expected another one, received an id whose reservation has ended'
  throw new SluiceError('SLUICE_TOKEN_REUSED', message)
}
