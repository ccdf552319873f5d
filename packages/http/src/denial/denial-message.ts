import { type HttpDenial, isPromise, type MaybePromise } from '@sluice/limiter-core/http'
import type { HttpExchange } from '../exchange.ts'
import type { DenialBody, DenialMessage } from '../gates/options/gate-options.ts'
import { abortStarted } from './abort-started.ts'
import type { DeniedRequest } from './denied-request.ts'

/** Sends a denial with the body of the option `message`, or with the default body if its function fails. */
export function sendMessage<Req, Res>(
  exchange: HttpExchange<Req, Res>,
  { denial, decision, report }: DeniedRequest<Req, Res>,
  message: DenialMessage<Req>,
): MaybePromise<void> {
  const send = (body: DenialBody): void => {
    if (exchange.isAnswered) abortStarted(exchange, report)
    else exchange.send(withBody(denial, body))
  }
  const failed = (error: unknown): void => {
    report.hookFailed('message', error, 'and the default response is sent')
    if (exchange.isAnswered) abortStarted(exchange, report)
    else exchange.send(denial)
  }
  try {
    const body = typeof message === 'function' ? message(exchange.raw, { denial, decision }) : message
    if (isPromise(body)) return Promise.resolve(body).then(send).catch(failed)
    send(body)
  } catch (error) {
    failed(error)
  }
}

function withBody(denial: HttpDenial, body: DenialBody): HttpDenial {
  if (typeof body === 'string') return { ...denial, contentType: 'text/plain; charset=utf-8', body }
  const json: string | undefined = JSON.stringify(body)
  if (json === undefined) throw new TypeError('expected a text or an object')
  return { ...denial, contentType: 'application/json', body: json }
}
