import { PROBLEM_MEDIA_TYPE } from '@sluice/limiter-core/http'
import type { ServiceAnswer } from './service-answer.ts'

const TITLES = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  409: 'Conflict',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  422: 'Unprocessable Content',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
} as const

type ProblemStatus = keyof typeof TITLES

interface ProblemParts {
  readonly detail?: string | undefined
  readonly headers?: Readonly<Record<string, string>>
}

/** Seconds after which to ask a ledger again that is away or full. */
const RETRY_SECONDS = 1
const STATUS_OF: Readonly<Record<string, ProblemStatus>> = {
  SLUICE_COUNTER_RANGE: 409,
  SLUICE_TOKEN_REUSED: 422,
  SLUICE_COUNTERS_FULL: 503,
  SLUICE_COUNTERS_UNAVAILABLE: 503,
  SLUICE_COUNTERS_CLOSED: 503,
}

/** A refusal that is answered as a problem document (RFC 9457). `code` is of Sluice, or a lower-case word of HTTP. */
export class ServiceProblem extends Error {
  readonly status: ProblemStatus
  readonly code: string
  readonly detail: string | undefined
  readonly headers: Readonly<Record<string, string>>

  constructor(status: ProblemStatus, code: string, { detail, headers = {} }: ProblemParts = {}) {
    super(detail ?? code)
    this.status = status
    this.code = code
    this.detail = detail
    this.headers = headers
  }

  answer(): ServiceAnswer {
    const { status, code, detail, headers } = this
    const body = JSON.stringify({ type: 'about:blank', title: TITLES[status], status, code, detail })
    return { status, headers: { ...headers, 'Content-Type': PROBLEM_MEDIA_TYPE }, body }
  }
}

/** What a client may know of anything that was thrown while its request was handled: of what is not its own, nothing. */
export function problemOf(error: unknown): ServiceProblem {
  if (error instanceof ServiceProblem) return error
  const { code, message } = (error ?? {}) as { readonly code?: unknown; readonly message?: unknown }
  if (typeof code !== 'string') return new ServiceProblem(500, 'internal')
  const status = /^SLUICE_BAD_/.test(code) ? 400 : STATUS_OF[code]
  if (status === undefined) return new ServiceProblem(500, 'internal')
  if (status === 503) return new ServiceProblem(503, code, { headers: { 'Retry-After': String(RETRY_SECONDS) } })
  return new ServiceProblem(status, code, { detail: detailOf(code, String(message)) })
}

/** A message without its code, which stands beside it, and without the page for whoever reads logs. */
function detailOf(code: string, message: string): string {
  const begin = message.startsWith(`${code}: `) ? code.length + 2 : 0
  return message.slice(begin).replace(/ \(https:\/\/[^)]*\)$/, '')
}
