import type { Charge, Clock, Decision, Observers, ScriptRunner } from '@sluice/limiter-core'
import { type Ask, askOfOne } from './ask.ts'
import { AskQueue } from './ask-queue.ts'
import { batchCall, soleCall, type TimeArg, timeArg } from './batch-call.ts'
import { BatchReply } from './batch-reply.ts'
import { hashSlot } from './hash-slot.ts'
import { resetScript } from './lua/reset-script.ts'
import { RedisFailure, reachedLate } from './redis-failure.ts'
import { ServerTime } from './server-time.ts'
import { KnownTelling } from './told-known.ts'

export interface ExactCallsOptions {
  readonly runner: ScriptRunner
  readonly clock: Clock
  readonly serverTime: (() => number) | undefined
  readonly maxBatch: number
  readonly observers: Observers
}

/** Sends asks in batches, in a cluster one for each slot, each batch with a deadline that the server keeps. */
export class ExactCalls {
  readonly #options: ExactCallsOptions
  readonly #times: ServerTime
  readonly #telling: KnownTelling
  readonly #queues = new Map<number, AskQueue>()
  readonly #stopListening: (() => void) | undefined

  constructor(options: ExactCallsOptions) {
    this.#options = options
    this.#times = new ServerTime(options.runner, options.clock)
    this.#telling = new KnownTelling(this.#times, options.clock, options.serverTime)
    this.#stopListening = options.runner.interrupted?.((_, server) => this.#times.forget(server))
  }

  /** Whether what was counted under `name` until `ageMs` ago may be gone. */
  mayHaveLost(name: string, ageMs: number): boolean {
    return this.#telling.mayHaveLost(name, ageMs)
  }

  /** Settles `ask` when the runner settles its call, or at once where nobody waits for it any more. */
  add(ask: Ask): void {
    this.#queueOf(ask.names[0]).add(ask)
  }

  /**
   * Takes one enforced charge of which nothing is known from before: by a call of its own where nothing is under way,
   * with as few promises and objects as that needs.
   */
  takeOne(charge: Charge, name: string, deadlineAt: number | undefined): Promise<Decision> {
    const queue = this.#queueOf(name)
    const { runner, clock } = this.#options
    const sentAt = clock.now()
    const time = queue.isIdle ? this.#timeNow(name, deadlineAt, sentAt) : undefined
    if (time === undefined) {
      const [ask, decided] = askOfOne(charge, name, sentAt, deadlineAt)
      queue.add(ask)
      return decided
    }
    const { script, keys, args } = soleCall(charge.step, charge.cost, [name], time)
    queue.began()
    return runner.run(script, keys, args, deadlineAt === undefined ? undefined : { deadlineAt }).then(
      (answer) => {
        queue.ended()
        return this.#decided(charge, name, deadlineAt, sentAt, new BatchReply(answer))
      },
      (error) => {
        queue.ended()
        throw this.#telling.failed(name, error)
      },
    )
  }

  /** Forgets names of one slot, of each of which what was known before may matter for so many ms. */
  async reset(names: readonly string[], forgetsMs: readonly number[], id: string, deadlineAt: number): Promise<void> {
    const { runner, serverTime } = this.#options
    if (!serverTime) await this.#knowTime(names[0])
    const time = timeArg(serverTime ? undefined : this.#deadline(names[0], deadlineAt), serverTime?.())
    const reply = await runner.run(resetScript, names, [time, id, ...forgetsMs], { deadlineAt })
    if (String(reply).startsWith('late')) throw reachedLate()
  }

  close(): void {
    this.#stopListening?.()
  }

  #queueOf(name: string): AskQueue {
    const slot = this.#options.runner.clustered ? hashSlot(name) : 0
    let queue = this.#queues.get(slot)
    if (!queue) {
      queue = new AskQueue(
        this.#options.maxBatch,
        (asks) => this.#send(asks),
        // one for each slot would add up; where there are no slots the only one stays
        () => this.#options.runner.clustered && this.#queues.delete(slot),
      )
      this.#queues.set(slot, queue)
    }
    return queue
  }

  /** The time of a call that goes out now; undefined where the server's clock is not known, or nobody waits any more. */
  #timeNow(name: string, deadlineAt: number | undefined, now: number): TimeArg | undefined {
    const { serverTime } = this.#options
    if (serverTime) return timeArg(undefined, serverTime())
    if (deadlineAt === undefined) return timeArg(undefined, undefined)
    return deadlineAt > now ? this.#times.deadline(name, deadlineAt) : undefined
  }

  #decided(
    charge: Charge,
    name: string,
    deadlineAt: number | undefined,
    sentAt: number,
    reply: BatchReply,
  ): Decision | Promise<Decision> {
    if (!this.#options.serverTime) this.#times.told(name, reply.now, sentAt)
    if (reply.late) {
      const [ask, decided] = askOfOne(charge, name, sentAt, deadlineAt)
      this.#again([ask])
      return decided
    }
    const decision = reply.nextDecision(charge.step.policy)
    if (decision instanceof RedisFailure) throw decision
    return decision
  }

  /** Answers how to settle the asks. */
  async #send(asks: readonly Ask[]): Promise<() => void> {
    try {
      const key = asks[0].names[0]
      const isTimed = soonest(asks) < Number.POSITIVE_INFINITY && this.#options.serverTime === undefined
      if (isTimed) await this.#knowTime(key)
      if (asks.some(mindsServer) && this.#telling.isInDoubt(key)) await this.#times.ask(key)
      const wanted = this.#stillWanted(asks)
      if (wanted.length === 0) return () => {}
      const reply = await this.#call(wanted, isTimed ? soonest(wanted) : undefined)
      return () => (reply.late ? this.#again(wanted) : this.#settle(wanted, reply))
    } catch (error) {
      const failure = this.#telling.failed(asks[0].names[0], error)
      return () => {
        for (const ask of asks) ask.reject(failure)
      }
    }
  }

  async #knowTime(key: string): Promise<void> {
    if (this.#times.deadline(key, 0) === undefined) await this.#times.ask(key)
  }

  /** In the server's time. */
  #deadline(key: string, deadlineAt: number): number {
    const deadline = this.#times.deadline(key, deadlineAt)
    if (deadline !== undefined) return deadline
    throw new RedisFailure('CONNECTION', 'the connection to Redis broke before the call was sent')
  }

  async #call(asks: readonly Ask[], deadlineAt: number | undefined): Promise<BatchReply> {
    const { runner, clock, serverTime } = this.#options
    const key = asks[0].names[0]
    const sentAt = clock.now()
    const deadline = deadlineAt === undefined ? undefined : this.#deadline(key, deadlineAt)
    for (const ask of asks) ask.told = this.#told(ask)
    const server = asks.some((ask) => ask.told !== undefined || givesBack(ask))
      ? this.#telling.numberOf(key)
      : undefined
    const { script, keys, args } = batchCall(asks, timeArg(deadline, serverTime?.()), server)
    const reply = new BatchReply(
      await runner.run(script, keys, args, deadlineAt === undefined ? undefined : { deadlineAt }),
    )
    if (!serverTime) this.#times.told(key, reply.now, sentAt)
    return reply
  }

  /** What the server of an ask is told of its keys; undefined where that is nothing. */
  #told({ charges, names, askedAt }: Ask): Ask['told'] {
    if (!charges.some(({ known }) => known)) return undefined
    const told = charges.map(({ known }, index) => known && this.#telling.told(known, names[index], askedAt))
    return told.some((one) => one) ? told : undefined
  }

  #settle(asks: readonly Ask[], reply: BatchReply): void {
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

  /** The reply has told the right time of the server: who still waits is asked for once more. */
  #again(asks: readonly Ask[]): void {
    const now = this.#options.clock.now()
    for (const ask of asks) {
      if (ask.retried || (ask.deadlineAt ?? Number.POSITIVE_INFINITY) <= now) ask.reject(reachedLate())
      else {
        ask.retried = true
        this.add(ask)
      }
    }
  }

  #stillWanted(asks: readonly Ask[]): readonly Ask[] {
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
function mindsServer(ask: Ask): boolean {
  return givesBack(ask) || ask.charges.some(({ known }) => (known?.used ?? 0) > 0)
}

function givesBack({ operation, charges }: Ask): boolean {
  return operation === 'adjust' && charges.some(({ cost }) => cost < 0)
}

function soonest(asks: readonly Ask[]): number {
  let soonestAt = Number.POSITIVE_INFINITY
  for (const { deadlineAt } of asks) if (deadlineAt !== undefined && deadlineAt < soonestAt) soonestAt = deadlineAt
  return soonestAt
}
