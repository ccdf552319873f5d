import type { RemoteReply, RemoteRequest } from '@sluice/fleet/backend'
import { type Answer, ChargeVerdict, type PolicyVerdict } from '@sluice/limiter-core/backend'
import { invalidRow, type PostgresFailure } from '../server/postgres-failure.ts'
import { invalidReply } from '../server/sql-calls.ts'

/** Parser for a reply of the functions in PostgreSQL. */
export class LimitReply implements RemoteReply {
  /** Whether the deadline had passed, so that the function did nothing. */
  readonly late: boolean
  /** Time of the server in ms. */
  readonly now: number
  /** Time of the server before which counts may have been lost. */
  readonly lostBefore: number
  readonly #source: string
  readonly #fields: readonly string[]
  #at: number

  /** `source` is the name of the backend, for decisions. Throws a `PostgresFailure` if the reply has no valid time. */
  constructor(reply: unknown, source: string) {
    this.#source = source
    this.#fields = String(reply).split(' ')
    this.late = this.#fields[0] === 'late'
    this.#at = this.late ? 1 : 0
    this.now = this.#number()
    this.lostBefore = this.#number()
    if (!(Number.isFinite(this.now) && Number.isFinite(this.lostBefore))) throw invalidReply()
  }

  /**
   * Returns the answer to the next request in the order of the statement. For an adjustment, `moved` is called for each
   * charge with the number of units that were applied.
   */
  next(
    { operation, charges }: RemoteRequest,
    moved: (charge: number, units: number) => void,
  ): Answer | PostgresFailure {
    if (this.#fields[this.#at] === '!') {
      this.#at++
      return invalidRow()
    }
    const verdicts: PolicyVerdict[] = []
    for (let index = 0; index < charges.length; index++) {
      const { counter, advisory } = charges[index]
      if (operation === 'adjust') moved(index, this.#number())
      const [remaining, waitMs, resetMs, growsMs] = [this.#number(), this.#number(), this.#number(), this.#number()]
      verdicts.push(new ChargeVerdict(counter.compiled.policy, advisory === true, remaining, waitMs, resetMs, growsMs))
    }
    if (this.#at > this.#fields.length) return invalidReply()
    return { verdicts, takenAt: this.now, counted: true, source: this.#source }
  }

  #number(): number {
    // the sum converts -0 to 0
    return Number(this.#fields[this.#at++]) + 0
  }
}
