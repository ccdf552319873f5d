import type { HttpExchange } from '../exchange.ts'
import { type ShedCheck, ShedGate } from '../gates/shed/shed-gate.ts'
import type { ShedOptions } from '../gates/shed/shed-options.ts'
import { GatedLimit } from './gated-limit.ts'
import type { Admission } from './http-limit.ts'

/** A limit that refuses requests while the process is overloaded. */
export class HttpShed<Req, Res> extends GatedLimit<Req, Res, ShedGate<Req, Res>, ShedCheck> {
  constructor(gate: ShedGate<Req, Res>) {
    super(gate, { off: gate.mode === 'off' })
  }

  /** Creates a limit from the options of `shed`; `adapterOptions` names the options that the adapter reads. */
  static of<Req, Res>(options: ShedOptions<Req, Res> = {}, adapterOptions: readonly string[] = []): HttpShed<Req, Res> {
    return new HttpShed(new ShedGate(options, adapterOptions))
  }

  override close(): void {
    this.gate.close()
  }

  protected override toAdmission({ denial }: ShedCheck, _exchange: HttpExchange<Req, Res>): Admission<Req, Res> {
    return { denial, decision: undefined, lines: [], answer: this.gate.options, report: this.report }
  }
}
