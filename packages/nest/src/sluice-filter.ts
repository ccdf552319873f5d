import { type ArgumentsHost, Catch, type ExceptionFilter } from '@nestjs/common'
import { type DeniedRequest, processWideMap, sendDenialBody, writeDenialHead } from '@sluice/node-http/adapter'
import type { NestExchange, PlatformRequest, PlatformResponse } from './nest-exchange.ts'
import { SluiceDenied } from './sluice-denied.ts'

const answers = processWideMap<SluiceDenied, () => void>(Symbol.for('sluice.nest.answers@1'))

/** Creates the exception of an HTTP denial. Writes status and headers now, for whichever filter sends the response. */
export function httpDenialException(
  exchange: NestExchange,
  refusal: DeniedRequest<PlatformRequest, PlatformResponse>,
): SluiceDenied {
  const denied = new SluiceDenied(refusal)
  if (!exchange.isAnswered) writeDenialHead(exchange, refusal.denial, refusal.lines)
  answers().set(denied, () => void sendDenialBody(exchange, refusal))
  return denied
}

/** Answers denials that the filters of the application do not catch. Rethrows denials of calls without a response. */
export class SluiceFilter implements ExceptionFilter<SluiceDenied> {
  catch(denied: SluiceDenied, _host: ArgumentsHost): void {
    const answer = answers().get(denied)
    if (!answer) throw denied
    answer()
  }
}

Catch(SluiceDenied)(SluiceFilter)
