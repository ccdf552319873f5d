import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  type DeniedAnswer,
  type DeniedContext,
  type HeaderLine,
  isPromise,
  messageOf,
  type RateLimitOptions,
  SluiceError,
  violatedPolicies,
  warnOnce,
} from '@sluice/limiter-core'
import type { Next } from './connect-host.ts'
import { writeDenialBody, writeDenialHead } from './denial-writer.ts'

/** How a limiter wants its denials answered. */
export interface AnswerOptions<Req, Res> extends Pick<RateLimitOptions<Req, Res>, 'denied'> {
  /** Hands an error to the framework instead of answering. */
  readonly next?: boolean | undefined
}

/** The error that a framework's error handling sees of a denial, in the shape that http-errors made usual. */
interface DenialError extends SluiceError {
  status: number
  statusCode: number
  expose: boolean
  headers: Record<string, string>
}

/** Answers a denied request in the limiter's way. Never throws; does nothing where an answer is under way already. */
export function answerDenied<Req extends IncomingMessage, Res extends ServerResponse>(
  req: Req,
  res: Res,
  next: Next,
  lines: readonly HeaderLine[],
  context: DeniedContext,
  options: AnswerOptions<Req, Res>,
): void {
  if (res.headersSent || res.writableEnded) return
  const { denial } = context
  writeDenialHead(req, res, denial, lines)
  if (options.next) next(denialError(context, lines))
  else if (options.denied) answerOwn(req, res, lines, context, options.denied)
  else writeDenialBody(res, denial)
}

function answerOwn<Req extends IncomingMessage, Res extends ServerResponse>(
  req: Req,
  res: Res,
  lines: readonly HeaderLine[],
  context: DeniedContext,
  denied: DeniedAnswer<Req, Res>,
): void {
  const failed = (error: unknown): void => {
    warnOnce('SLUICE_HOOK_FAILED', () => `denied failed, and the usual answer stands in: ${messageOf(error)}`, 'denied')
    if (!res.headersSent) {
      // what it did to status and headers before it failed is no part of the usual answer
      writeDenialHead(req, res, context.denial, lines)
      writeDenialBody(res, context.denial)
    } else if (!res.writableEnded) res.end()
  }
  try {
    const answered = denied(req, res, context)
    if (isPromise(answered)) answered.then(undefined, failed)
  } catch (error) {
    failed(error)
  }
}

function denialError({ denial, decision }: DeniedContext, lines: readonly HeaderLine[]): DenialError {
  const policies = decision ? violatedPolicies(decision) : []
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
