import { TurnBatch } from '@sluice/fleet/backend'
import type { Answer, Clock, Observers } from '@sluice/limiter-core/backend'
import { conflictFailure, isRepeatable, lateFailure, PostgresFailure } from '../server/postgres-failure.ts'
import type { ServerState } from '../server/server-state.ts'
import { invalidReply, type SqlCalls } from '../server/sql-calls.ts'
import type { Decision } from './decisions.ts'
import { KeyStates } from './key-state.ts'
import type { LimitRequest } from './limit-request.ts'
import { Turn } from './turn.ts'
import { TurnReply, turnValues } from './turn-statement.ts'
import { WaitingRequests } from './waiting-requests.ts'

/** Statements under way at once. Each of them has other keys. */
const MOST_STATEMENTS = 4
/** Attempts after which a request is given up. */
const MOST_ATTEMPTS = 100
/** Time by which rows are kept longer if their times are not those of the server. */
const SIMULATED_EXTRA_MS = 600_000

export interface LimitTurnsOptions {
  readonly calls: SqlCalls
  readonly server: ServerState
  readonly clock: Clock
  readonly observers: Observers
  /** Name of the function of a turn. */
  readonly turn: string
  /** Name of the backend, for answers. */
  readonly source: string
  readonly maxBatch: number
  readonly durable: boolean
}

/**
 * Decides requests and writes the results: one statement for all requests of a turn of the event loop. Requests for a
 * key that is in a statement under way wait for its reply, so that a process does not conflict with itself. If another
 * process has changed a key, its requests are decided again for the state in the reply.
 */
export class LimitTurns {
  readonly #options: LimitTurnsOptions
  readonly #statement: string
  readonly #states = new KeyStates()
  readonly #waiting = new WaitingRequests()
  readonly #arriving: TurnBatch<LimitRequest> = new TurnBatch((batch) => {
    this.#waiting.add(batch.take())
    this.#sendWaiting()
  })
  #underWay = 0
  // 62 random bits, so that no two processes write the same version
  #version = BigInt.asUintN(62, crypto.getRandomValues(new BigUint64Array(1))[0])

  constructor(options: LimitTurnsOptions) {
    this.#options = options
    const parameters = Array.from({ length: 16 }, (_, index) => `$${index + 1}`)
    this.#statement = `select ${options.turn}(${parameters.join(', ')}) as reply`
  }

  /** Queues a request. It is settled with its statement, or rejected if its deadline has passed. */
  add(request: LimitRequest): void {
    this.#arriving.add(request)
  }

  #sendWaiting(): void {
    while (this.#underWay < MOST_STATEMENTS && this.#waiting.any) {
      const requests = this.#waiting.take(this.#options.maxBatch, this.#options.clock.now())
      if (requests.length === 0) return
      void this.#send(requests)
    }
  }

  /** Never rejects. */
  async #send(requests: readonly LimitRequest[]): Promise<void> {
    const { clock, server } = this.#options
    this.#underWay++
    const sentAt = clock.now()
    let settle: () => void
    try {
      const turn = this.#decided(requests, server.at(sentAt), sentAt)
      const version = this.#nextVersion()
      const reply = await this.#call(turn, version)
      server.replied(reply, sentAt, clock.now())
      settle = () => this.#settle(turn, version, reply)
    } catch (error) {
      const failure = error instanceof PostgresFailure ? error : invalidReply()
      server.failed()
      settle = () => this.#fail(requests, failure)
    }
    this.#waiting.release(requests)
    this.#underWay--
    try {
      settle()
    } catch (error) {
      // a policy has thrown
      for (const request of requests) request.reject(error as Error)
    }
    this.#sendWaiting()
  }

  /** Returns a version that no other write has; never 0. */
  #nextVersion(): string {
    this.#version++
    return String(this.#version)
  }

  #decided(requests: readonly LimitRequest[], now: number | undefined, processNow: number): Turn {
    return new Turn(requests, this.#states, { now, lostBefore: this.#options.server.lostBefore, processNow })
  }

  async #call(turn: Turn, version: string): Promise<TurnReply> {
    const { calls, server, durable } = this.#options
    const values = turnValues(turn, {
      version,
      serverAt: server.isSimulated ? undefined : (at) => server.at(at),
      extraMs: server.isSimulated ? SIMULATED_EXTRA_MS : 0,
      durable,
    })
    const row = (await calls.run(this.#statement, values)) as { readonly reply: string } | undefined
    if (typeof row?.reply !== 'string') throw invalidReply()
    return new TurnReply(row.reply)
  }

  #settle(turn: Turn, version: string, reply: TurnReply): void {
    for (const [name, state] of turn.written(version, reply.refused)) this.#states.set(name, state)
    for (const [index, { name }] of turn.keys.entries()) {
      if (turn.now === undefined || reply.refused.has(turn.groupAt(index))) this.#states.set(name, reply.stateAt(index))
    }
    const refused: LimitRequest[] = []
    for (const [index, request] of turn.requests.entries()) {
      if (turn.now !== undefined && !reply.refused.has(turn.groupOf(request))) {
        this.#resolve(request, turn.decisions[index], turn.now)
      } else {
        request.applied = reply.appliedOf(request)
        refused.push(request)
      }
    }
    if (refused.length > 0) this.#decideAgain(refused, reply)
  }

  /** Settles the requests that change nothing by the states in the reply. The others wait for another statement. */
  #decideAgain(requests: readonly LimitRequest[], reply: TurnReply): void {
    const { clock, server } = this.#options
    const processNow = clock.now()
    const now = server.isSimulated ? (server.at(processNow) as number) : reply.now
    const turn = this.#decided(requests, now, processNow)
    const written = turn.writtenGroups
    const again: LimitRequest[] = []
    for (const [index, request] of requests.entries()) {
      if (written.has(turn.groupOf(request))) again.push(request)
      else this.#resolve(request, turn.decisions[index], now)
    }
    this.#sendAgain(again, processNow)
  }

  #sendAgain(requests: readonly LimitRequest[], now: number): void {
    const again = requests.filter((request) => {
      request.attempts++
      if (request.deadlineAt > now && request.attempts <= MOST_ATTEMPTS) return true
      request.reject(request.deadlineAt > now ? conflictFailure() : lateFailure())
      return false
    })
    this.#waiting.addFirst(again)
  }

  #fail(requests: readonly LimitRequest[], failure: PostgresFailure): void {
    if (isRepeatable(failure)) this.#sendAgain(requests, this.#options.clock.now())
    else for (const request of requests) request.reject(failure)
  }

  #resolve(request: LimitRequest, { verdicts, moved }: Decision, takenAt: number): void {
    const answer: Answer = { verdicts, takenAt, counted: true, source: this.#options.source }
    request.resolve(answer)
    for (const [index, units] of moved.entries()) {
      const { key, counter, cost } = request.charges[index]
      if (units >= cost) continue
      const { name } = counter.compiled.policy
      this.#options.observers.event('lateCharge', { policy: name, key, units: cost - units })
    }
  }
}
