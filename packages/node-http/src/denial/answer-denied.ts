import {
  type DeniedAnswer,
  type DeniedContext,
  type HeaderLine,
  isPromise,
  type MaybePromise,
  SluiceError,
  violatedNames,
} from '@sluice/limiter-core/http'
import type { Exchange } from '../exchange/exchange.ts'
import { cutOff } from '../lifecycle/response-end.ts'
import { writeDenialHead } from './denial-writer.ts'
import type { DeniedRequest } from './denied-request.ts'

/** The error that a framework's error handling sees of a denial, in the shape that http-errors made usual. */
export interface DenialError extends SluiceError {
  status: number
  statusCode: number
  expose: boolean
  headers: Record<string, string>
}

/**
 * Answers a denied request in the way of whoever denied. Never throws; does nothing where an answer is under way already. A
 * promise where the user's own answer is one.
 */
export function answerDenied<Req, Res>(
  exchange: Exchange<Req, Res>,
  refusal: DeniedRequest<Req, Res>,
  next?: (error: DenialError) => void,
): MaybePromise<void> {
  if (exchange.answered) return undefined
  writeDenialHead(exchange, refusal.denial, refusal.lines)
  if (!refusal.answer.next || !next) return answerBody(exchange, refusal)
  next(denialError(refusal, refusal.lines))
  return undefined
}

/** The answer behind a head that stands already (`writeDenialHead`). Never throws. */
export function answerBody<Req, Res>(
  exchange: Exchange<Req, Res>,
  refusal: DeniedRequest<Req, Res>,
): MaybePromise<void> {
  if (exchange.answered) return undefined
  const { denied } = refusal.answer
  if (denied) return answerOwn(exchange, refusal, denied)
  exchange.send(refusal.denial)
  return undefined
}

function answerOwn<Req, Res>(
  exchange: Exchange<Req, Res>,
  { lines, report, answer: _answer, ...context }: DeniedRequest<Req, Res>,
  denied: DeniedAnswer<Req, Res>,
): MaybePromise<void> {
  const failed = (error: unknown): void => {
    report.hookFailed('denied', error, 'and the usual answer stands in')
    const { outgoing } = exchange
    if (!exchange.answered) {
      // what it did to status and headers before it failed is no part of the usual answer
      writeDenialHead(exchange, context.denial, lines)
      exchange.send(context.denial)
    } else if (outgoing.headersSent && !outgoing.writableEnded) {
      // half an answer must not look like a whole one, and its reader must not wait for the rest
      cutOff(exchange.incoming, outgoing)
    }
  }
  try {
    const answered = denied(exchange.raw, exchange.res, context)
    // by way of a promise of ours: a thenable may call back twice
    if (isPromise(answered))
      return Promise.resolve(answered)
        .then((value) => exchange.conclude(value))
        .catch(failed)
    exchange.conclude(answered)
  } catch (error) {
    failed(error)
  }
}

/** The error of a denial, for frameworks that answer errors. */
function denialError({ denial, decision }: DeniedContext, lines: readonly HeaderLine[]): DenialError {
  const policies = decision ? violatedNames(denial) : []
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
  })
}
