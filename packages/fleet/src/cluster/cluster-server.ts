import { memoryBackend } from '@sluice/limiter-core'
import {
  type Answer,
  type Charge,
  type Clock,
  type CountedKey,
  messageOf,
  plainVerdict,
} from '@sluice/limiter-core/backend'
import type { LeaseGrant, LeaseTerms } from '../leases/lease-ledger.ts'
import { MemoryLedger } from '../leases/memory-ledger.ts'
import { AppliedAdjustments } from './applied-adjustments.ts'
import {
  type AnswerMessage,
  isCall,
  MARK,
  ReceivedCounters,
  type Sent,
  type SentCall,
  type SentCounter,
} from './cluster-message.ts'

/** The counts of a cluster in its primary process. Replies to the calls of workers. */
export class ClusterServer {
  readonly ledger: MemoryLedger
  readonly #clock: Clock
  readonly #leaseMs: number
  readonly #counters: ReceivedCounters
  readonly #applied: AppliedAdjustments = new AppliedAdjustments()
  #stopTimer: (() => void) | undefined

  constructor(terms: LeaseTerms, maxBytes: number | undefined, clock: Clock) {
    const memory = memoryBackend(maxBytes === undefined ? { clock } : { maxBytes, clock })
    this.#clock = clock
    this.#leaseMs = terms.leaseMs
    this.ledger = new MemoryLedger('cluster', memory, terms, () => clock.now())
    this.#counters = new ReceivedCounters((compiled, name) => this.ledger.open(compiled, name))
  }

  /** Returns the reply to a message of a worker; undefined if Sluice did not send the message. Never throws. */
  handle(message: unknown): AnswerMessage | undefined {
    if (!isCall(message)) return undefined
    const { line, counters, calls } = message
    const answers = calls.map(({ id, call, deadlineWall }) => {
      if (this.#clock.wall() > deadlineWall) return { id, late: true as const }
      try {
        return { id, value: this.#run(call, counters) }
      } catch (error) {
        return { id, error: messageOf(error) }
      }
    })
    this.#watch()
    return { mark: MARK, line, answers }
  }

  close(): void {
    this.#stopTimer?.()
    this.ledger.close()
  }

  #run(call: SentCall, counters: readonly SentCounter[]): Answer | readonly LeaseGrant[] | undefined {
    const unpacked = <T extends CountedKey>(list: readonly Sent<T>[]): T[] =>
      list.map((one) => ({ ...one, counter: this.#counters.of(counters[one.counter]) }) as unknown as T)
    if (call.op === 'ask') return this.ledger.request(unpacked(call.asks))
    if (call.op === 'reset') {
      this.ledger.resetAll(unpacked(call.keys))
      return undefined
    }
    const charges = unpacked(call.charges)
    if (call.op === 'adjust') {
      const { takenAt, id } = call
      const apply = (due: readonly Charge[]): Answer => this.ledger.adjustAll(due, takenAt ?? Number.POSITIVE_INFINITY)
      const isRepeatable = typeof id === 'string'
      return plainAnswer(isRepeatable ? this.#applied.once(charges, id, this.#clock.now(), apply) : apply(charges))
    }
    if (call.op === 'take') return plainAnswer(this.ledger.takeAll(charges))
    if (call.op === 'peek') return plainAnswer(this.ledger.peekAll(charges))
    throw new TypeError('the primary received an unknown operation from a worker')
  }

  /** Charges expired leases that no worker renews or reports. */
  #watch(): void {
    if (this.ledger.keys === 0) return
    this.#stopTimer ??= this.#clock.after(this.#leaseMs, () => {
      this.#stopTimer = undefined
      this.ledger.sweep()
      this.#watch()
    })
  }
}

/** Copies an answer without getters, which some transports do not serialize. */
function plainAnswer({ verdicts, ...answer }: Answer): Answer {
  return { ...answer, verdicts: verdicts.map(plainVerdict) }
}
