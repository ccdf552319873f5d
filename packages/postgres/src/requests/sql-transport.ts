import { knownOf, type RemoteRequest, type ServerState, soonest, type Transport } from '@sluice/fleet/backend'
import type { Clock, CompiledPolicy } from '@sluice/limiter-core/backend'
import { takeFunctionName } from '../functions/take-function.ts'
import { failureOf, isRepeatable, lateFailure, type PostgresFailure } from '../server/postgres-failure.ts'
import type { SqlCalls } from '../server/sql-calls.ts'
import { decideArguments, isPlainTake, takeArguments } from './decide-call.ts'
import { LimitReply } from './decide-reply.ts'
import { soleAlgorithm } from './policy-numbers.ts'

export interface SqlTransportOptions {
  readonly calls: SqlCalls
  readonly server: ServerState
  readonly clock: Clock
  readonly schema: string
  readonly durable: boolean
  /** Name of the backend, for decisions. */
  readonly source: string
}

/** SQLSTATE class of errors about values, which one request of a statement may have caused for all. */
const DATA_ERRORS = '22'

/** Decides requests in statements, each with a deadline that the server checks. */
export class SqlTransport implements Transport {
  readonly lateFailure: () => PostgresFailure = lateFailure
  readonly #options: SqlTransportOptions
  readonly #statements: Readonly<Record<'clock' | 'decide', string>>
  /** Returns the statement of a single take. */
  readonly #takeStatement: (of: CompiledPolicy) => string

  constructor(options: SqlTransportOptions) {
    this.#options = options
    const { schema } = options
    const head = '$1::float8, $2::float8, $3::boolean'
    this.#statements = {
      clock: `select ${schema}.limit1_contact() as reply`,
      decide: `select ${schema}.limit1_decide(${head}, $4::text[], $5::text[], $6::text::float8[]) as reply`,
    }
    const parameters = `${head}, $4::text, $5::text::float8[], $6::float8`
    this.#takeStatement = (of) => `select ${schema}.${takeFunctionName(soleAlgorithm(of))}(${parameters}) as reply`
  }

  /** Reads the time of the server if it is needed and not yet known. */
  prepare(requests: readonly RemoteRequest[]): Promise<unknown> | undefined {
    if (this.#options.server.isKnown) return undefined
    const isTimed = soonest(requests) < Number.POSITIVE_INFINITY || requests.some(reportsUsage)
    return isTimed ? this.#call(this.#statements.clock, Number.POSITIVE_INFINITY, undefined) : undefined
  }

  call(requests: readonly RemoteRequest[], deadlineAt: number): Promise<LimitReply> {
    const [first] = requests
    if (requests.length === 1 && isPlainTake(first)) {
      const [{ counter }] = first.charges
      return this.#call(this.#takeStatement(counter.compiled), deadlineAt, takeArguments(first))
    }
    const rest = decideArguments(requests, (processAt) => this.#options.server.at(processAt))
    return this.#call(this.#statements.decide, deadlineAt, rest)
  }

  failed(error: unknown): PostgresFailure {
    const failure = failureOf(error)
    if (failure.isOfConnection) this.#options.server.failed()
    return failure
  }

  repeats(failure: PostgresFailure): 'together' | 'alone' | undefined {
    if (isRepeatable(failure)) return 'together'
    // the statement was rolled back, and only one of its requests need have caused the error
    return failure.code.startsWith(DATA_ERRORS) ? 'alone' : undefined
  }

  /** Calls a function. Without `rest`, it has no arguments. */
  async #call(text: string, deadlineAt: number, rest: readonly unknown[] | undefined): Promise<LimitReply> {
    const { calls, server, clock, durable, source } = this.#options
    const sentAt = clock.now()
    const { deadline, given } = server.timesOf(deadlineAt)
    const row = await calls.run(text, rest ? [deadline, given, durable, ...rest] : [])
    const reply = new LimitReply((row as { readonly reply?: unknown } | undefined)?.reply, source)
    server.replied(reply, sentAt)
    return reply
  }
}

/** Whether the request reports usage, whose age is measured by the server's clock. */
function reportsUsage(request: RemoteRequest): boolean {
  return request.charges.some((charge) => knownOf(request, charge))
}
