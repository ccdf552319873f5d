import {
  Birth,
  type Clock,
  clockOf,
  isPromise,
  type MaybePromise,
  type SlowCheck,
  type SlowDownOptions,
  SlowGuard,
} from '@sluice/limiter-core'
import type { AnswerOptions } from './answer-denied.ts'
import type { Exchange } from './exchange.ts'
import type { Admission, RequestLimit } from './request-limit.ts'

/** A limit of speed on requests: who asks too often waits. */
export class RequestSlow<Req, Res> implements RequestLimit<Req, Res> {
  readonly guard: SlowGuard<Req, Res>
  readonly #clock: Clock
  readonly #birth = new Birth()
  /** Lets each request go on that waits. */
  readonly #waiting = new Set<() => void>()

  constructor(guard: SlowGuard<Req, Res>) {
    this.guard = guard
    this.#clock = clockOf(guard.options.clock)
  }

  /** From the options of a framework's `slowDown`; `adapterOptions` are the names that only this framework has. */
  static of<Req, Res>(
    options: SlowDownOptions<Req, Res>,
    adapterOptions: readonly string[] = [],
  ): RequestSlow<Req, Res> {
    return new RequestSlow(new SlowGuard(options, adapterOptions))
  }

  get answer(): AnswerOptions<Req, Res> {
    return this.guard.options
  }

  /** Requests that wait. */
  get waiting(): number {
    return this.#waiting.size
  }

  admit(exchange: Exchange<Req, Res>): MaybePromise<Admission> {
    if (this.guard.rate.off) return 'passed'
    this.#birth.used()
    if (!exchange.life.meets(this.guard)) return 'passed'
    const check = this.guard.check(exchange)
    return isPromise(check) ? check.then((come) => this.#admitted(come, exchange)) : this.#admitted(check, exchange)
  }

  /** Nobody waits any longer. */
  close(): void {
    for (const goOn of [...this.#waiting]) goOn()
    this.guard.rate.close()
  }

  #admitted(check: SlowCheck<Req, Res> | undefined, exchange: Exchange<Req, Res>): MaybePromise<Admission> {
    if (!check) return 'passed'
    const { life } = exchange
    life.took(check, this.guard.rate.observers, true)
    if (check.guard.settles) life.settleAtEnd(exchange.raw, exchange.res)
    const { delayMs } = check
    if (delayMs === 0) return 'passed'
    if (life.gone) return 'gone'
    if (this.#waiting.size >= this.guard.maxWaiting) {
      return { denial: this.guard.denial(delayMs), decision: check.decision, lines: [] }
    }
    return this.#delayed(delayMs, exchange)
  }

  #delayed(delayMs: number, { life }: Exchange<Req, Res>): Promise<Admission> {
    return new Promise((resolve) => {
      const done = (admission: Admission): void => {
        cancel()
        this.#waiting.delete(goOn)
        resolve(admission)
      }
      const goOn = (): void => done('passed')
      const cancel = this.#clock.after(delayMs, goOn)
      this.#waiting.add(goOn)
      life.onEnd(() => done('gone'))
    })
  }
}
