import { type Clock, clockOf, KEEP_ALIVE, type MaybePromise } from '@sluice/limiter-core/http'
import type { HttpExchange } from '../exchange.ts'
import { type SlowCheck, SlowDownGate } from '../gates/slow-down/slow-down-gate.ts'
import type { SlowDownOptions } from '../gates/slow-down/slow-down-options.ts'
import { GatedLimit } from './gated-limit.ts'
import type { Admission } from './http-limit.ts'

/** Outcome of a request above `after`, as reported to observers. */
type Outcome = 'waits' | 'denied' | 'shadow'

/** A limit that delays the requests of clients that send too many. */
export class HttpSlowDown<Req, Res> extends GatedLimit<Req, Res, SlowDownGate<Req, Res>, SlowCheck<Req, Res>> {
  readonly #clock: Clock
  /** Callbacks that release the delayed requests. */
  readonly #waiting = new Set<() => void>()
  #closed = false

  constructor(gate: SlowDownGate<Req, Res>) {
    super(gate, { off: gate.mode === 'off' })
    this.#clock = clockOf(gate.options.clock)
  }

  /** Creates a limit from the options of `slowDown`; `adapterOptions` names the options that the adapter reads. */
  static of<Req, Res>(
    options: SlowDownOptions<Req, Res>,
    adapterOptions: readonly string[] = [],
  ): HttpSlowDown<Req, Res> {
    return new HttpSlowDown(new SlowDownGate(options, adapterOptions))
  }

  /** Number of requests that are being delayed. */
  get waiting(): number {
    return this.#waiting.size
  }

  /** Releases all delayed requests at once, and delays no further ones. */
  releaseDelayed(): void {
    this.#closed = true
    for (const goOn of [...this.#waiting]) goOn()
  }

  override close(): void {
    this.releaseDelayed()
    this.gate.rate.close()
  }

  protected override toAdmission(
    check: SlowCheck<Req, Res>,
    exchange: HttpExchange<Req, Res>,
  ): MaybePromise<Admission<Req, Res>> {
    const { delayMs, shadow } = check
    const { life } = exchange
    const waits = delayMs > 0 && !shadow && !this.#closed
    if (waits && !life.gone && this.#waiting.size >= this.gate.maxWaiting) return this.#refused(check)
    life.recordTaken(check, this.report, true)
    if (check.gate.settles) life.settleAtEnd(exchange.raw, exchange.res)
    if (!waits) {
      if (delayMs > 0 && shadow) this.#notifyObservers(check, 'shadow')
      return 'passed'
    }
    if (life.gone) return 'gone'
    this.#notifyObservers(check, 'waits')
    return this.#delayed(delayMs, exchange)
  }

  #refused(check: SlowCheck<Req, Res>): Admission<Req, Res> {
    this.gate.refund(check)
    this.#notifyObservers(check, 'denied')
    const denial = this.gate.denial(check.delayMs)
    return { denial, decision: undefined, lines: [], answer: this.gate.options, report: this.report }
  }

  #notifyObservers({ keys: [key], delayMs }: SlowCheck<Req, Res>, outcome: Outcome): void {
    const { rate, name } = this.gate
    if (rate.observers.any) rate.observers.event('slowed', { policy: name, key, delayMs, outcome })
  }

  #delayed(delayMs: number, exchange: HttpExchange<Req, Res>): Promise<Admission<Req, Res>> {
    const { life } = exchange
    return new Promise((resolve) => {
      let cancel: (() => void) | undefined
      const done = (admission: Admission<Req, Res>): void => {
        cancel?.()
        this.#waiting.delete(goOn)
        resolve(admission)
      }
      // if other code has sent a response in the meantime, the handlers must not run
      const goOn = (): void => done(life.gone || exchange.hasEnded ? 'gone' : 'passed')
      this.#waiting.add(goOn)
      // a custom clock may call back at once, or return no cancel function
      cancel = this.#clock.after(delayMs, goOn, KEEP_ALIVE)
      life.onEnd(() => done('gone'))
    })
  }
}
