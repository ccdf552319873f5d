import type { Charge, Clock, Observers, ScriptRunner, SourcedDecision } from '@sluice/limiter-core'
import type { CallForm } from './batch-call.ts'
import { BatchReply } from './batch-reply.ts'
import { CROSSSLOT } from './given-runner.ts'
import { hashSlot } from './hash-slot.ts'
import type { KnownServers } from './known-servers.ts'
import { resetScript } from './lua/reset-script.ts'
import { neverSent, RedisFailure, reachedLate } from './redis-failure.ts'
import { ScriptQueue } from './script-queue.ts'
import { requestOfOne, type ScriptRequest } from './script-request.ts'

export interface ExactCallsOptions {
  readonly runner: ScriptRunner
  readonly clock: Clock
  readonly servers: KnownServers
  readonly form: CallForm
  /** The name of the backend that answers. */
  readonly source: string
  readonly maxBatch: number
  readonly observers: Observers
}

/** Sends asks in batches, in a cluster one for each slot, each batch with a deadline that the server keeps. */
export class ExactCalls {
  readonly #options: ExactCallsOptions
  readonly #servers: KnownServers
  readonly #queues = new Map<number, ScriptQueue>()

  constructor(options: ExactCallsOptions) {
    this.#options = options
    this.#servers = options.servers
  }

  /** Settles `ask` when the runner settles its call, or at once where nobody waits for it any more. */
  add(ask: ScriptRequest): void {
    this.#queueOf(ask.names[0]).add(ask)
  }

  /**
   * Takes one enforced charge of which nothing is known from before: by a call of its own where nothing is under way,
   * with as few promises and objects as that needs.
   */
  takeOne(charge: Charge, name: string, deadlineAt: number | undefined): Promise<SourcedDecision> {
    const queue = this.#queueOf(name)
    const { runner, clock, form } = this.#options
    const sentAt = clock.now()
    const time = queue.isIdle ? this.#servers.timeNow(name, deadlineAt, sentAt) : undefined
    if (time === undefined) {
      const [ask, decided] = requestOfOne(charge, name, sentAt, deadlineAt)
      queue.add(ask)
      return decided
    }
    const { script, keys, args } = form.sole(charge.step, charge.cost, name, time)
    queue.began()
    return runner.run(script, keys, args, deadlineAt === undefined ? undefined : { deadlineAt }).then(
      (answer) => {
        queue.ended()
        return this.#decided(charge, name, deadlineAt, sentAt, new BatchReply(answer, this.#options.source))
      },
      (error) => {
        queue.ended()
        throw this.#servers.telling.failed(name, error)
      },
    )
  }

  /** Forgets names of one slot, of each of which what was known before may matter for so many ms. */
  async reset(names: readonly string[], forgetsMs: readonly number[], id: string, deadlineAt: number): Promise<void> {
    await this.#servers.knowTime(names[0])
    const args = [this.#servers.time(names[0], deadlineAt), id, ...forgetsMs]
    const reply = await this.#options.runner.run(resetScript, names, args, { deadlineAt })
    if (String(reply).startsWith('late')) throw reachedLate()
  }

  #queueOf(name: string): ScriptQueue {
    const slot = this.#options.runner.clustered ? hashSlot(name) : 0
    let queue = this.#queues.get(slot)
    if (!queue) {
      queue = new ScriptQueue(
        this.#options.maxBatch,
        (asks) => this.#send(asks),
        // one for each slot would add up; where there are no slots the only one stays
        () => this.#options.runner.clustered && this.#queues.delete(slot),
      )
      this.#queues.set(slot, queue)
    }
    return queue
  }

  #decided(
    charge: Charge,
    name: string,
    deadlineAt: number | undefined,
    sentAt: number,
    reply: BatchReply,
  ): SourcedDecision | Promise<SourcedDecision> {
    this.#servers.told(name, reply.now, sentAt)
    if (reply.late) {
      const [ask, decided] = requestOfOne(charge, name, sentAt, deadlineAt)
      this.#again([ask])
      return decided
    }
    const decision = reply.nextDecision(charge.step.policy)
    if (decision instanceof RedisFailure) throw decision
    return decision
  }

  /** Answers how to settle the asks. */
  async #send(asks: readonly ScriptRequest[]): Promise<() => void> {
    const key = asks[0].names[0]
    let isSent = false
    try {
      const isTimed = soonest(asks) < Number.POSITIVE_INFINITY
      if (isTimed) await this.#servers.knowTime(key)
      if (asks.some(mindsServer)) await this.#servers.knowIdentity(key)
      const wanted = this.#stillWanted(asks)
      if (wanted.length === 0) return () => {}
      isSent = true
      const reply = await this.#call(wanted, isTimed ? soonest(wanted) : undefined)
      return () => (reply.late ? this.#again(wanted) : this.#settle(wanted, reply))
    } catch (error) {
      const failed = this.#servers.telling.failed(key, error)
      if (failed.code === CROSSSLOT) return () => this.#again(asks, failed)
      const failure = isSent ? failed : neverSent(failed)
      return () => {
        for (const ask of asks) ask.reject(failure)
      }
    }
  }

  async #call(asks: readonly ScriptRequest[], deadlineAt: number | undefined): Promise<BatchReply> {
    const { runner, clock, form, source } = this.#options
    const key = asks[0].names[0]
    const sentAt = clock.now()
    const time = this.#servers.time(key, deadlineAt)
    for (const ask of asks) ask.told = this.#told(ask)
    const isMinded = asks.some((ask) => ask.told !== undefined || givesBack(ask))
    const server = isMinded ? this.#servers.telling.numberOf(key) : undefined
    const { script, keys, args } = form.batch(asks, time, server)
    const reply = new BatchReply(
      await runner.run(script, keys, args, deadlineAt === undefined ? undefined : { deadlineAt }),
      source,
    )
    this.#servers.told(key, reply.now, sentAt)
    return reply
  }

  /** What the server of an ask is told of its keys; undefined where that is nothing. */
  #told({ charges, names, askedAt }: ScriptRequest): ScriptRequest['told'] {
    if (!charges.some(({ known }) => known)) return undefined
    const told = charges.map(({ known }, index) => known && this.#servers.telling.told(known, names[index], askedAt))
    return told.some((one) => one) ? told : undefined
  }

  #settle(asks: readonly ScriptRequest[], reply: BatchReply): void {
    for (const ask of asks) {
      const answer = reply.next(ask, (charge, units) => this.#moved(ask.charges[charge], units))
      if (answer instanceof RedisFailure) ask.reject(answer)
      else ask.resolve(answer)
    }
  }

  #moved({ key, step, cost }: Charge, units: number): void {
    if (units >= cost) return
    this.#options.observers.event('lateCharge', { policy: step.policy.name, key, units: cost - units })
  }

  /** The reply has told the right time of the server, or that it is one of several: who still waits is asked for once more. */
  #again(asks: readonly ScriptRequest[], failure: RedisFailure = reachedLate()): void {
    const now = this.#options.clock.now()
    for (const ask of asks) {
      if (ask.retried || (ask.deadlineAt ?? Number.POSITIVE_INFINITY) <= now) ask.reject(failure)
      else {
        ask.retried = true
        this.add(ask)
      }
    }
  }

  #stillWanted(asks: readonly ScriptRequest[]): readonly ScriptRequest[] {
    const now = this.#options.clock.now()
    if (soonest(asks) > now) return asks
    return asks.filter((ask) => {
      const wanted = ask.deadlineAt === undefined || ask.deadlineAt > now
      if (!wanted) ask.reject(reachedLate())
      return wanted
    })
  }
}

/** Whether an ask must know who its server is: it may tell it what it lost, or gives units back. */
function mindsServer(ask: ScriptRequest): boolean {
  return givesBack(ask) || ask.charges.some(({ known }) => (known?.used ?? 0) > 0)
}

function givesBack({ operation, charges }: ScriptRequest): boolean {
  return operation === 'adjust' && charges.some(({ cost }) => cost < 0)
}

function soonest(asks: readonly ScriptRequest[]): number {
  let soonestAt = Number.POSITIVE_INFINITY
  for (const { deadlineAt } of asks) if (deadlineAt !== undefined && deadlineAt < soonestAt) soonestAt = deadlineAt
  return soonestAt
}
