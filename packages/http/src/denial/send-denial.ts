import { andThen, type HttpDenial, isPromise, type MaybePromise, SluiceError } from '@sluice/limiter-core/http'
import type { HttpExchange } from '../exchange.ts'
import type { DenialBody, DeniedHook } from '../gates/options/gate-options.ts'
import { abortStarted } from './abort-started.ts'
import { messageOf, sendMessage } from './denial-message.ts'
import { writeDenialHead } from './denial-writer.ts'
import type { DeniedRequest } from './denied-request.ts'

/** Error that the error handling of a framework receives for a denial, in the shape of http-errors. */
export interface DenialError extends SluiceError {
  status: number
  statusCode: number
  expose: boolean
  headers: Record<string, string>
  /** The option `message` of the limiter, or what its function returned. A text is the message of the error, too. */
  body?: DenialBody
}

/**
 * Passes an error to the error handling of a framework: the error of a denial, with the response that would otherwise be
 * sent, or an error of the function `denied`.
 */
export type PassError = (error: unknown, denial?: HttpDenial) => void

/**
 * Answers a denied request as the options of the denying limiter require. A response that has already been started is
 * aborted. Throws only what `passError` throws. Returns a promise if a custom `denied` or `message` function does.
 */
export function sendDenial<Req, Res>(
  exchange: HttpExchange<Req, Res>,
  refusal: DeniedRequest<Req, Res>,
  passError?: PassError,
): MaybePromise<void> {
  if (exchange.isAnswered) return abortStarted(exchange, refusal.report)
  writeDenialHead(exchange, refusal.denial, refusal.lines)
  if (!refusal.answer.next || !passError) return sendDenialBody(exchange, refusal, passError)
  return andThen(messageOf(exchange, refusal), ({ denial, body }) => {
    passError(denialError(refusal, body), denial)
  })
}

/**
 * Sends the body of a denial after `writeDenialHead`, or aborts a response that has been started. Throws only what
 * `passError` throws.
 */
export function sendDenialBody<Req, Res>(
  exchange: HttpExchange<Req, Res>,
  refusal: DeniedRequest<Req, Res>,
  passError?: PassError,
): MaybePromise<void> {
  if (exchange.isAnswered) return abortStarted(exchange, refusal.report)
  const { denied, message } = refusal.answer
  if (denied) return answerOwn(exchange, refusal, denied, passError)
  if (message === undefined) exchange.send(refusal.denial)
  else return sendMessage(exchange, refusal)
  return undefined
}

function answerOwn<Req, Res>(
  exchange: HttpExchange<Req, Res>,
  { lines, report, answer: _answer, ...context }: DeniedRequest<Req, Res>,
  denied: DeniedHook<Req, Res>,
  passError: PassError | undefined,
): MaybePromise<void> {
  const failed = (error: unknown): void => {
    if (passError && !exchange.isAnswered) {
      report.observers.event('hookFailed', { hook: 'denied', error })
      exchange.undoStatus?.(context.denial.status)
      passError(passable(error))
      return
    }
    report.hookFailed('denied', error, 'and the default response is sent')
    if (!exchange.isAnswered) {
      // overwrites the status and headers that the function set before it failed
      writeDenialHead(exchange, context.denial, lines)
      exchange.send(context.denial)
    } else {
      // a partial response must not look complete, and its reader must not wait for the rest
      exchange.abort?.()
    }
  }
  try {
    const answered = denied(exchange.raw, exchange.res, context)
    // through a native promise, because a thenable may call back twice
    if (isPromise(answered))
      return Promise.resolve(answered)
        .then((value) => exchange.sendReturned(value))
        .catch(failed)
    exchange.sendReturned(answered)
  } catch (error) {
    failed(error)
  }
}

/** Returns an error for any other value than an object, which frameworks may take for no error, or for a command. */
function passable(thrown: unknown): unknown {
  if (typeof thrown === 'object' && thrown !== null) return thrown
  return new Error(String(thrown), { cause: thrown })
}

/** Creates the error of a denial, for the error handling of a framework. `message`: the configured one. */
function denialError(
  { denial, decision, lines }: DeniedRequest<never, never>,
  message: DenialBody | undefined,
): DenialError {
  const policies = decision ? denial.violated : []
  const error = new SluiceError('SLUICE_DENIED', `denied${policies.length > 0 ? ` by ${policies.join(', ')}` : ''}`)
  const { retryAfterSeconds } = denial
  return Object.assign(error, {
    status: denial.status,
    statusCode: denial.status,
    expose: true,
    headers: {
      ...Object.fromEntries(lines),
      ...(retryAfterSeconds !== undefined && { 'Retry-After': String(retryAfterSeconds) }),
      'Cache-Control': 'no-store',
    },
    ...(message !== undefined && { body: message }),
    ...(typeof message === 'string' && { message }),
  })
}
