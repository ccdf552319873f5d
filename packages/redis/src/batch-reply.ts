import { type Answer, ChargeVerdict, type PolicyVerdict } from '@sluice/limiter-core'
import type { Ask } from './ask.ts'
import { failureOfText, RedisFailure } from './redis-failure.ts'

/** A reply of `exactDriver`, read. */
export class BatchReply {
  /** The server's time, in ms. */
  readonly now: number
  /** True where the deadline had passed, and nothing was done. */
  readonly late: boolean
  readonly #fields: readonly string[]
  readonly #messages: readonly string[]
  #at = 1

  constructor(reply: unknown) {
    const [line, ...messages] = String(reply).split('\n')
    this.#fields = line.split(' ')
    this.#messages = messages
    this.late = this.#fields[0] === 'late'
    this.now = Number(this.#fields[this.late ? 1 : 0])
    if (!Number.isFinite(this.now)) throw noReply()
  }

  /** The answer to the next ask. Of an adjustment `moved` hears how many units found their place. */
  next(ask: Ask, moved: (charge: number, units: number) => void): Answer | RedisFailure {
    const fields = this.#fields
    if (fields[this.#at]?.startsWith('!')) return failureOfText(this.#messages[Number(fields[this.#at++].slice(1)) - 1])
    const verdicts: PolicyVerdict[] = []
    for (let index = 0; index < ask.charges.length; index++) {
      const { step, advisory } = ask.charges[index]
      if (ask.operation === 'adjust') moved(index, Number(fields[this.#at++]))
      const remaining = Number(fields[this.#at])
      const waitMs = Number(fields[this.#at + 1])
      const resetAfterMs = Number(fields[this.#at + 2])
      this.#at += 3
      const retryAfterMs = waitMs < 0 ? Number.POSITIVE_INFINITY : waitMs
      verdicts.push(new ChargeVerdict(step.policy, advisory === true, remaining, retryAfterMs, resetAfterMs))
    }
    if (this.#at > fields.length) return noReply()
    return { verdicts, takenAt: this.now, counted: true, source: 'redis' }
  }
}

function noReply(): RedisFailure {
  return new RedisFailure('ERR', 'the script answered what is no reply of it')
}
