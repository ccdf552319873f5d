import type { HttpExchange } from '../exchange.ts'
import type { LimiterReport } from '../report/limiter-report.ts'

/**
 * Aborts the response to a denied request if its head has already been sent, so that neither its client nor the caps in
 * front of the limiter wait for its end. Does nothing if the response has ended.
 */
export function abortStarted<Req, Res>(exchange: HttpExchange<Req, Res>, report: LimiterReport): void {
  if (!exchange.abort?.()) return
  report.warnOnce('SLUICE_RESPONSE_STARTED', () => {
    const cause = 'a denied request had a response whose head was already sent'
    const then = 'it is aborted, and its client receives an incomplete response'
    return `${cause}; ${then}; mount the limiter before middleware that starts responses`
  })
}
