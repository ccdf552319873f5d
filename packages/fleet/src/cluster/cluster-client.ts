import { randomInt } from 'node:crypto'
import {
  type Answer,
  afterThisTurn,
  type Backend,
  type Charge,
  type Clock,
  type CompiledPolicy,
  type CountedKey,
  type Counter,
  IDEMPOTENT_MS,
  type Interruption,
  type Moment,
} from '@sluice/limiter-core/backend'
import { PlainCounter } from '../backend/plain-counter.ts'
import { TurnBatch } from '../backend/turn-batch.ts'
import type { LeaseGrant, LeaseLedger, LeaseRequest } from '../leases/lease-ledger.ts'
import { ClusterFailure } from './cluster-failure.ts'
import {
  type CallMessage,
  isAnswer,
  MARK,
  receivedAnswer,
  receivedGrants,
  type Sent,
  type SentCall,
  SentCounters,
} from './cluster-message.ts'

/** The channel between a worker and its primary. */
export interface Port {
  readonly connected: boolean
  /** Sends a message, and calls `failed` if it could not be sent. */
  send(message: object, failed: () => void): void
  /** Calls `message` for each message, and `lost` if the channel is closed. Returns a function that stops listening. */
  listen(message: (message: unknown) => void, lost: () => void): () => void
}

interface Call {
  readonly id: number
  readonly deadlineAt: number
  readonly build: (counters: SentCounters) => SentCall
  readonly resolve: (value: unknown) => void
  readonly reject: (error: ClusterFailure) => void
}

/** Interval in ms at which a primary that has never replied is probed again, because it may not be listening yet. */
const PROBE_EVERY_MS = 20
/** Timeout in ms of a call without a deadline. */
const DEFAULT_TIMEOUT_MS = 1_000

/** Upper bound of `line` numbers. They are random, because a process may contain two copies of this code. */
const MAX_LINE = 2 ** 48 - 1

/** The counts of the primary as seen from a worker. Calls of one turn of the event loop are sent in one message. */
export class ClusterClient implements Backend<Promise<Answer>>, LeaseLedger {
  readonly name = 'cluster'
  readonly keepsHolds = true
  /** Unique in this process. */
  readonly #line: number = randomInt(MAX_LINE)
  readonly #port: Port
  readonly #clock: Clock
  readonly #stop: () => void
  readonly #listeners = new Set<(event: Interruption) => void>()
  readonly #unsent = new TurnBatch<Call>(() => this.#sendUnsent())
  readonly #sent = new Map<number, Call>()
  /** Whether the primary has ever replied. */
  #isListening = false
  #ids = 0
  #stopTimer: (() => void) | undefined

  constructor(port: Port, clock: Clock) {
    this.#port = port
    this.#clock = clock
    this.#stop = port.listen(this.#receive, this.#lost)
  }

  open(compiled: CompiledPolicy, name: string): Counter<Promise<Answer>> {
    return new PlainCounter(this, compiled, name)
  }

  request(asks: readonly LeaseRequest[], deadlineAt: number): Promise<readonly LeaseGrant[]> {
    const build = (counters: SentCounters): SentCall => ({ op: 'ask', asks: asks.map((ask) => counters.of(ask)) })
    return this.#call(build, deadlineAt).then((answer) => receivedGrants(answer as readonly LeaseGrant[]))
  }

  takeAll(charges: readonly Charge[], moment?: Moment): Promise<Answer> {
    return this.#charge(charges, moment, (sent) => ({ op: 'take', charges: sent }))
  }

  peekAll(charges: readonly Charge[], moment?: Moment): Promise<Answer> {
    return this.#charge(charges, moment, (sent) => ({ op: 'peek', charges: sent }))
  }

  adjustAll(charges: readonly Charge[], takenAt: number, moment?: Moment): Promise<Answer> {
    const instant = Number.isFinite(takenAt) ? takenAt : null
    const { id, issuedAt = Number.POSITIVE_INFINITY } = moment?.idempotencyKey ?? {}
    // the primary forgets the id afterwards
    const deadlineAt = Math.min(moment?.deadlineAt ?? this.#clock.now() + DEFAULT_TIMEOUT_MS, issuedAt + IDEMPOTENT_MS)
    return this.#charge(charges, { deadlineAt }, (sent) => ({ op: 'adjust', charges: sent, takenAt: instant, id }))
  }

  async resetAll(keys: readonly CountedKey[]): Promise<void> {
    const counted = keys.map(({ key, counter }) => ({ key, counter }))
    await this.#call((counters) => ({ op: 'reset', keys: counted.map((one) => counters.of(one)) }), undefined)
  }

  interrupted(listener: (event: Interruption) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Always false: a running primary has not lost any counts, and a primary that exited does not return. */
  mayHaveLost(): boolean {
    return false
  }

  /** Rejects pending calls. Calls that were just added, such as the last reports of leases, are still sent. */
  close(): void {
    this.#unsent.flush()
    this.#stopTimer?.()
    this.#stop()
    this.#fail(() => true, new ClusterFailure('CONNECTION', 'the backend was closed'))
  }

  async #charge(
    charges: readonly Charge[],
    moment: Moment | undefined,
    call: (sent: Sent<Charge>[]) => SentCall,
  ): Promise<Answer> {
    const answer = await this.#call(
      (counters) => call(charges.map((charge) => counters.of(charge))),
      moment?.deadlineAt,
    )
    return receivedAnswer(charges, answer as Answer)
  }

  #call(build: Call['build'], deadlineAt: number | undefined): Promise<unknown> {
    if (!this.#port.connected) return Promise.reject(gone())
    return new Promise((resolve, reject) => {
      const id = ++this.#ids
      this.#unsent.add({ id, deadlineAt: deadlineAt ?? this.#clock.now() + DEFAULT_TIMEOUT_MS, build, resolve, reject })
      this.#watch()
    })
  }

  #sendUnsent(): void {
    // messages to a primary that is not listening would be lost
    if (!this.#isListening) {
      this.#post([], [])
      return
    }
    const calls = this.#unsent.take()
    if (calls.length === 0) return
    const counters = new SentCounters()
    // the clocks of the two processes have different origins, so deadlines are sent in wall-clock time
    const toWall = this.#clock.wall() - this.#clock.now()
    const built = calls.map(({ id, build, deadlineAt }) => ({
      id,
      call: build(counters),
      deadlineWall: deadlineAt + toWall,
    }))
    for (const call of calls) this.#sent.set(call.id, call)
    this.#post(counters.list, built)
  }

  #post(counters: CallMessage['counters'], calls: CallMessage['calls']): void {
    const message: CallMessage = { mark: MARK, line: this.#line, counters, calls }
    this.#port.send(message, () => this.#fail(({ id }) => calls.some((call) => call.id === id), gone()))
  }

  readonly #receive = (message: unknown): void => {
    if (!isAnswer(message) || message.line !== this.#line) return
    this.#isListening = true
    for (const { id, value, late, error } of message.answers) {
      const call = this.#sent.get(id)
      this.#sent.delete(id)
      if (late) call?.reject(new ClusterFailure('LATE', 'the primary received the call after its deadline'))
      else if (error !== undefined) call?.reject(new ClusterFailure('ERR', error))
      else call?.resolve(value)
    }
    if (this.#unsent.size > 0) this.#unsent.flush()
  }

  readonly #lost = (): void => {
    this.#fail(() => true, gone())
    for (const listener of this.#listeners) listener('lost')
  }

  #fail(which: (call: Call) => boolean, failure: ClusterFailure): void {
    const failed = [...[...this.#sent.values()].filter(which), ...this.#unsent.remove(which)]
    for (const { id, reject } of failed) {
      this.#sent.delete(id)
      reject(failure)
    }
  }

  /** Runs while calls are pending: rejects late calls, and probes a primary that has never replied. */
  #watch(): void {
    // Node runs timers before it reads received messages, so the check must wait for the end of the turn
    this.#stopTimer ??= this.#clock.after(PROBE_EVERY_MS, () => afterThisTurn(() => this.#check()))
  }

  #check(): void {
    this.#stopTimer = undefined
    const now = this.#clock.now()
    const late = new ClusterFailure('LATE', 'the primary did not reply before the deadline', this.#isListening)
    this.#fail(({ deadlineAt }) => deadlineAt < now, late)
    if (this.#sent.size + this.#unsent.size === 0) return
    if (!this.#isListening) this.#unsent.flush()
    this.#watch()
  }
}

function gone(): ClusterFailure {
  return new ClusterFailure('CONNECTION', 'the primary process of the cluster has exited or is disconnected')
}
