import type { Charge, Clock, Decision, Observers, ScriptRunner } from '@sluice/limiter-core'
import { type Ask, askOfOne } from './ask.ts'
import { AskQueue } from './ask-queue.ts'
import { batchCall, soleCall, type TimeArg, timeArg } from './batch-call.ts'
import { BatchReply } from './batch-reply.ts'
import { hashSlot } from './hash-slot.ts'
import { resetScript } from './lua/reset-script.ts'
import { failureOf, RedisFailure, reachedLate } from './redis-failure.ts'
import { ServerTime } from './server-time.ts'

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
  readonly #queues = new Map<number, AskQueue>()
  readonly #stopListening: (() => void) | undefined

  constructor(options: ExactCallsOptions) {
    this.#options = options
    this.#times = new ServerTime(options.runner, options.clock)
    this.#stopListening = options.runner.interrupted?.(() => this.#times.forget())
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
    const time = queue.isIdle ? this.#timeNow(name, deadlineAt) : undefined
    if (time === undefined) {
      const [ask, decided] = askOfOne(charge, name, deadlineAt)
      queue.add(ask)
      return decided
    }
    const { runner, clock } = this.#options
    const { script, keys, args } = soleCall(charge.step, charge.cost, [name], time)
    const sentAt = clock.now()
    queue.began()
    return runner.run(script, keys, args, deadlineAt === undefined ? undefined : { deadlineAt }).then(
      (answer) => {
        queue.ended()
        return this.#decided(charge, name, deadlineAt, sentAt, new BatchReply(answer))
      },
      (error) => {
        queue.ended()
        throw failureOf(error)
      },
    )
  }

  /** Forgets names of one slot. */
  async reset(names: readonly string[], id: string, deadlineAt: number): Promise<void> {
    const { runner, serverTime } = this.#options
    if (!serverTime) await this.#knowTime(names[0])
    const time = timeArg(serverTime ? undefined : this.#deadline(names[0], deadlineAt), serverTime?.())
    const reply = await runner.run(resetScript, names, [time, id], { deadlineAt })
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
  #timeNow(name: string, deadlineAt: number | undefined): TimeArg | undefined {
    const { serverTime, clock } = this.#options
    if (serverTime) return timeArg(undefined, serverTime())
    if (deadlineAt === undefined) return timeArg(undefined, undefined)
    return deadlineAt > clock.now() ? this.#times.deadline(name, deadlineAt) : undefined
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
      const [ask, decided] = askOfOne(charge, name, deadlineAt)
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
      const wanted = this.#stillWanted(asks)
      if (wanted.length === 0) return () => {}
      const reply = await this.#call(wanted, isTimed ? soonest(wanted) : undefined)
      return () => (reply.late ? this.#again(wanted) : this.#settle(wanted, reply))
    } catch (error) {
      const failure = failureOf(error)
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
    const { script, keys, args } = batchCall(asks, timeArg(deadline, serverTime?.()))
    const reply = new BatchReply(
      await runner.run(script, keys, args, deadlineAt === undefined ? undefined : { deadlineAt }),
    )
    if (!serverTime) this.#times.told(key, reply.now, sentAt)
    return reply
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

function soonest(asks: readonly Ask[]): number {
  let soonestAt = Number.POSITIVE_INFINITY
  for (const { deadlineAt } of asks) if (deadlineAt !== undefined && deadlineAt < soonestAt) soonestAt = deadlineAt
  return soonestAt
}
