import { type ArgumentsHost, Catch, type ExceptionFilter } from '@nestjs/common'
import { type DeniedRequest, sendDenialBody, writeDenialHead } from '@sluice/node-http/adapter'
import type { NestExchange, PlatformRequest, PlatformResponse } from './exchange/nest-exchange.ts'
import { SluiceDenied } from './sluice-denied.ts'

/** Property of an exception with the function that sends its response. It costs less than an entry of a WeakMap. */
const ANSWER = Symbol.for('sluice.nest.answer@1')

/** Creates the exception of an HTTP denial. Writes status and headers now, for whichever filter sends the response. */
export function httpDenialException(
  exchange: NestExchange,
  refusal: DeniedRequest<PlatformRequest, PlatformResponse>,
): SluiceDenied {
  const denied = new SluiceDenied(refusal)
  if (!exchange.isAnswered) writeDenialHead(exchange, refusal.denial, refusal.lines)
  const value = (): void => void sendDenialBody(exchange, refusal)
  return Object.defineProperty(denied, ANSWER, { value })
}

/** Answers denials that the filters of the application do not catch. Rethrows denials of calls without a response. */
export class SluiceFilter implements ExceptionFilter<SluiceDenied> {
  catch(denied: SluiceDenied, _host: ArgumentsHost): void {
    const answer = (denied as { readonly [ANSWER]?: () => void })[ANSWER]
    if (!answer) throw denied
    answer()
  }
}

Catch(SluiceDenied)(SluiceFilter)
