import { andThen, type HttpDenial, isPromise, type MaybePromise } from '@sluice/limiter-core/http'
import type { HttpExchange } from '../exchange.ts'
import type { DenialBody } from '../gates/options/gate-options.ts'
import { abortStarted } from './abort-started.ts'
import type { DeniedRequest } from './denied-request.ts'

/** A denial with the configured message as its body. */
interface Message {
  readonly denial: HttpDenial
  /** The configured message; undefined without one, or if its function failed. */
  readonly body: DenialBody | undefined
}

/** Sends a denial with the body of the option `message`, or with the default body if its function fails. */
export function sendMessage<Req, Res>(
  exchange: HttpExchange<Req, Res>,
  refusal: DeniedRequest<Req, Res>,
): MaybePromise<void> {
  return andThen(messageOf(exchange, refusal), ({ denial }) => {
    if (exchange.isAnswered) abortStarted(exchange, refusal.report)
    else exchange.send(denial)
  })
}

/** Returns a denial with the body of the option `message`; with the default body if its function fails. Never throws. */
export function messageOf<Req, Res>(
  exchange: HttpExchange<Req, Res>,
  { denial, decision, report, answer: { message } }: DeniedRequest<Req, Res>,
): MaybePromise<Message> {
  const made = (body: DenialBody | undefined): Message => ({
    denial: body === undefined ? denial : withBody(denial, body),
    body,
  })
  const failed = (error: unknown): Message => {
    report.hookFailed('message', error, 'and the default response is sent')
    return made(undefined)
  }
  try {
    if (typeof message !== 'function') return made(message)
    const body = message(exchange.raw, { denial, decision })
    if (isPromise(body)) return Promise.resolve(body).then(checked).then(made).catch(failed)
    return made(checked(body))
  } catch (error) {
    return failed(error)
  }
}

/** Rejects a function that returned nothing. */
function checked(body: DenialBody): DenialBody {
  if (body === undefined) throw new TypeError('expected a text or an object')
  return body
}

function withBody(denial: HttpDenial, body: DenialBody): HttpDenial {
  if (typeof body === 'string') return { ...denial, contentType: 'text/plain; charset=utf-8', body }
  const json: string | undefined = JSON.stringify(body)
  if (json === undefined) throw new TypeError('expected a text or an object')
  return { ...denial, contentType: 'application/json', body: json }
}
