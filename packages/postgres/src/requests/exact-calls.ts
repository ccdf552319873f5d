import { type ServerState, sendAgain, soonest, stillWanted } from '@sluice/fleet/backend'
import type { Clock, CompiledPolicy, Observers } from '@sluice/limiter-core/backend'
import { takeFunctionName } from '../functions/take-function.ts'
import { failureOf, isRepeatable, lateFailure, PostgresFailure, unsentFailure } from '../server/postgres-failure.ts'
import type { SqlCalls } from '../server/sql-calls.ts'
import { decideArguments, isPlainTake, takeArguments } from './decide-call.ts'
import { LimitReply } from './decide-reply.ts'
import { DecisionQueue } from './decision-queue.ts'
import { type LimitRequest, reportsUsage } from './limit-request.ts'
import { soleAlgorithm } from './policy-numbers.ts'

export interface ExactCallsOptions {
  readonly calls: SqlCalls
  readonly server: ServerState
  readonly clock: Clock
  readonly schema: string
  readonly maxBatch: number
  readonly durable: boolean
  readonly observers: Observers
  /** Name of the backend, for decisions. */
  readonly source: string
}

/** Statements under way at once. */
const MOST_STATEMENTS = 4
/** SQLSTATE class of errors about values, which one request of a statement may have caused for all. */
const DATA_ERRORS = '22'

/** Sends requests in statements, with a deadline that the server checks. */
export class ExactCalls {
  readonly #options: ExactCallsOptions
  readonly #queue: DecisionQueue
  readonly #statements: Readonly<Record<'clock' | 'decide', string>>
  /** Returns the statement of a single take. */
  readonly #takeStatement: (of: CompiledPolicy) => string

  constructor(options: ExactCallsOptions) {
    this.#options = options
    const { schema, maxBatch } = options
    const head = '$1::float8, $2::float8, $3::boolean'
    this.#statements = {
      clock: `select ${schema}.limit1_contact() as reply`,
      decide: `select ${schema}.limit1_decide(${head}, $4::text[], $5::text[], $6::text::float8[]) as reply`,
    }
    const parameters = `${head}, $4::text, $5::text::float8[], $6::float8`
    this.#takeStatement = (of) => `select ${schema}.${takeFunctionName(soleAlgorithm(of))}(${parameters}) as reply`
    const send = (requests: readonly LimitRequest[]) => this.#send(requests)
    this.#queue = new DecisionQueue({ maxBatch, maxStatements: MOST_STATEMENTS, send })
  }

  /** Queues `request`. It is settled with its statement, or rejected without one if its deadline has passed. */
  add(request: LimitRequest): void {
    this.#queue.add(request)
  }

  /** Never rejects. */
  async #send(requests: readonly LimitRequest[]): Promise<void> {
    try {
      const isTimed = soonest(requests) < Number.POSITIVE_INFINITY || requests.some(reportsUsage)
      if (isTimed) await this.#ensureTime()
    } catch (error) {
      rejectAll(requests, unsentFailure(failureOf(error)))
      return
    }
    const wanted = stillWanted(requests, this.#options.clock.now(), lateFailure)
    if (wanted.length === 0) return
    try {
      const reply = await this.#decide(wanted)
      if (reply.late) this.#again(wanted)
      else this.#settle(wanted, reply)
    } catch (error) {
      await this.#failed(wanted, failureOf(error))
    }
  }

  /** Reads the time of the server if it is not yet known. */
  async #ensureTime(): Promise<void> {
    const { server, clock } = this.#options
    if (server.at(clock.now()) === undefined) await this.#call(this.#statements.clock, undefined, undefined)
  }

  async #failed(requests: readonly LimitRequest[], failure: PostgresFailure): Promise<void> {
    if (isRepeatable(failure)) this.#again(requests, failure)
    else if (requests.length === 1 || !failure.code.startsWith(DATA_ERRORS)) rejectAll(requests, failure)
    // the statement was rolled back, and only one of its requests need have caused the error
    else for (const request of requests) await this.#send([request])
  }

  #decide(requests: readonly LimitRequest[]): Promise<LimitReply> {
    const [first] = requests
    const deadlineAt = soonest(requests)
    if (requests.length === 1 && isPlainTake(first)) {
      const [{ counter }] = first.charges
      return this.#call(this.#takeStatement(counter.compiled), deadlineAt, takeArguments(first))
    }
    const { server, clock } = this.#options
    const now = clock.now()
    const rest = decideArguments(requests, (processAt) => (server.at(now) ?? 0) + processAt - now)
    return this.#call(this.#statements.decide, deadlineAt, rest)
  }

  /** Calls a function. Without `rest`, it has no arguments. */
  async #call(text: string, deadlineAt: number | undefined, rest: readonly unknown[] | undefined): Promise<LimitReply> {
    const { calls, server, clock, durable } = this.#options
    const sentAt = clock.now()
    try {
      const row = await calls.run(text, rest ? [...this.#times(deadlineAt), durable, ...rest] : [])
      const reply = new LimitReply((row as { readonly reply?: unknown } | undefined)?.reply)
      server.replied(reply, sentAt, clock.now())
      return reply
    } catch (error) {
      const failure = failureOf(error)
      if (failure.isOfConnection) server.failed()
      throw failure
    }
  }

  /** Returns the deadline in server time and the time that replaces the server's; null for neither. */
  #times(deadlineAt = Number.POSITIVE_INFINITY): readonly (number | null)[] {
    const { server, clock } = this.#options
    if (server.isSimulated) return [null, server.at(clock.now()) ?? null]
    return [deadlineAt === Number.POSITIVE_INFINITY ? null : (server.at(deadlineAt) ?? null), null]
  }

  #settle(requests: readonly LimitRequest[], reply: LimitReply): void {
    for (const request of requests) {
      const { charges } = request
      const answer = reply.next(request, this.#options.source, (charge, units) => this.#moved(charges[charge], units))
      if (answer instanceof PostgresFailure) request.reject(answer)
      else request.resolve(answer)
    }
  }

  #moved({ key, counter, cost }: LimitRequest['charges'][number], units: number): void {
    if (units >= cost) return
    this.#options.observers.event('lateCharge', { policy: counter.compiled.policy.name, key, units: cost - units })
  }

  /**
   * Sends requests once more if their deadline has not passed: the reply contained the correct time of the server, or the
   * statement had no effect. Rejects the other requests with `failure`.
   */
  #again(requests: readonly LimitRequest[], failure: PostgresFailure = lateFailure()): void {
    sendAgain(requests, this.#options.clock.now(), failure, (request) => this.add(request))
  }
}

function rejectAll(requests: readonly LimitRequest[], failure: PostgresFailure): void {
  for (const request of requests) request.reject(failure)
}
