import {
  type Answer,
  type Backend,
  type Charge,
  ChargeVerdict,
  type CountedKey,
  type Counter,
} from '@sluice/limiter-core/backend'
import { compiledOf, type SentPolicy, sentPolicyOf } from '../backend/sent-policy.ts'
import type { LeaseGrant, LeaseRequest } from '../leases/lease-ledger.ts'

/** Identifies messages of Sluice. Other messages of the application are ignored. */
export const MARK = 'sluice.cluster@2'

/** A counter as sent in a message. */
export interface SentCounter extends SentPolicy {
  readonly name: string
}

/** A charge or key whose counter is an index into the `counters` of its message. */
export type Sent<T extends CountedKey> = Omit<T, 'counter'> & { readonly counter: number }

/** A call of a worker. */
export type SentCall =
  | { readonly op: 'ask'; readonly asks: readonly Sent<LeaseRequest>[] }
  | { readonly op: 'take' | 'peek'; readonly charges: readonly Sent<Charge>[] }
  /** `takenAt` is null for a time later than now, because JSON has no Infinity. `id`: of an idempotency key. */
  | {
      readonly op: 'adjust'
      readonly charges: readonly Sent<Charge>[]
      readonly takenAt: number | null
      readonly id?: string | undefined
    }
  | { readonly op: 'reset'; readonly keys: readonly Sent<CountedKey>[] }

/** The calls of one turn of the event loop. A message without calls only checks whether the primary is listening. */
export interface CallMessage {
  readonly mark: typeof MARK
  /** Identifies the backend that sent the calls: a worker may have several, and all of them receive each reply. */
  readonly line: number
  readonly counters: readonly SentCounter[]
  /** `deadlineWall`: the deadline in ms since 1970. */
  readonly calls: readonly { readonly id: number; readonly call: SentCall; readonly deadlineWall: number }[]
}

/** Replies to calls. An error is sent as its message. */
export interface AnswerMessage {
  readonly mark: typeof MARK
  /** The `line` of the calls. */
  readonly line: number
  readonly answers: readonly {
    readonly id: number
    readonly value?: unknown
    readonly late?: true
    readonly error?: string
  }[]
}

/** Collects the counters of one message and replaces them with their indexes. */
export class SentCounters {
  readonly list: SentCounter[] = []
  readonly #numbers = new Map<Counter, number>()

  /** Returns a copy with the index of the counter. */
  of<T extends CountedKey>(one: T): Sent<T> {
    const { counter } = one
    let number = this.#numbers.get(counter)
    if (number === undefined) {
      number = this.list.push({ name: counter.name, ...sentPolicyOf(counter.compiled) }) - 1
      this.#numbers.set(counter, number)
    }
    return { ...one, counter: number }
  }
}

/** Maximum number of open counters in `ReceivedCounters`. */
const MAX_COUNTERS = 1_000

/** Opens the counters of received messages, and keeps them open for later messages. */
export class ReceivedCounters {
  readonly #open: Backend['open']
  readonly #counters = new Map<string, Counter>()

  constructor(open: Backend['open']) {
    this.#open = open
  }

  /** Throws if the policy is invalid. */
  of(sent: SentCounter): Counter {
    const id = JSON.stringify(sent)
    let counter = this.#counters.get(id)
    if (!counter) {
      // limits that depend on requests could otherwise fill the memory
      if (this.#counters.size >= MAX_COUNTERS) this.#close()
      counter = this.#open(compiledOf(sent), sent.name)
      this.#counters.set(id, counter)
    }
    return counter
  }

  #close(): void {
    for (const counter of this.#counters.values()) counter.close?.()
    this.#counters.clear()
  }
}

/** Restores an answer from JSON, in which Infinity is null. */
export function receivedAnswer(charges: readonly Charge[], { verdicts, ...answer }: Answer): Answer {
  return {
    ...answer,
    verdicts: verdicts.map((verdict, index) => {
      const { counter, advisory } = charges[index]
      const { remaining, retryAfterMs, resetAfterMs, availableAfterMs } = verdict
      const waitMs = retryAfterMs ?? Number.POSITIVE_INFINITY
      return new ChargeVerdict(
        counter.compiled.policy,
        advisory === true,
        remaining,
        waitMs,
        resetAfterMs,
        availableAfterMs,
      )
    }),
  }
}

export function receivedGrants(grants: readonly LeaseGrant[]): readonly LeaseGrant[] {
  const never = Number.POSITIVE_INFINITY
  return grants.map(({ retryAfterMs, availableAfterMs, ...grant }) => {
    return { ...grant, retryAfterMs: retryAfterMs ?? never, availableAfterMs: availableAfterMs ?? never }
  })
}

export function isCall(message: unknown): message is CallMessage {
  return isMarked(message) && isListOfObjects(message.calls) && Array.isArray(message.counters)
}

export function isAnswer(message: unknown): message is AnswerMessage {
  return isMarked(message) && isListOfObjects(message.answers)
}

function isMarked(message: unknown): message is Readonly<Record<string, unknown>> {
  return (message as { mark?: unknown } | null | undefined)?.mark === MARK
}

function isListOfObjects(list: unknown): boolean {
  return Array.isArray(list) && list.every((one) => typeof one === 'object' && one !== null)
}
