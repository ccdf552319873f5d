import { PROBLEM_MEDIA_TYPE } from '@sluice/limiter-core/http'
import type { ServiceResponse } from './service-response.ts'

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

/** `Retry-After` in seconds, if the ledger is unavailable or full. */
const RETRY_SECONDS = 1
const STATUS_OF: Readonly<Record<string, ProblemStatus>> = {
  SLUICE_COUNTER_RANGE: 409,
  SLUICE_TOKEN_REUSED: 422,
  SLUICE_COUNTERS_FULL: 503,
  SLUICE_COUNTERS_UNAVAILABLE: 503,
  SLUICE_COUNTERS_CLOSED: 503,
}

/**
 * Error that is sent as a problem document (RFC 9457). `code` is a Sluice code or a lower-case word such as
 * `not-found`.
 */
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

  toResponse(): ServiceResponse {
    const { status, code, detail, headers } = this
    const body = JSON.stringify({ type: 'about:blank', title: TITLES[status], status, code, detail })
    return { status, headers: { ...headers, 'Content-Type': PROBLEM_MEDIA_TYPE }, body }
  }
}

/** Converts a thrown error to a problem. Internal errors become status 500 without details. */
export function problemOf(error: unknown): ServiceProblem {
  if (error instanceof ServiceProblem) return error
  const { code, message } = (error ?? {}) as { readonly code?: unknown; readonly message?: unknown }
  if (typeof code !== 'string') return new ServiceProblem(500, 'internal')
  const status = /^SLUICE_BAD_/.test(code) ? 400 : STATUS_OF[code]
  if (status === undefined) return new ServiceProblem(500, 'internal')
  if (status === 503) return new ServiceProblem(503, code, { headers: { 'Retry-After': String(RETRY_SECONDS) } })
  return new ServiceProblem(status, code, { detail: detailOf(code, String(message)) })
}

/** Returns a message without its code, which is a separate field, and without the link for readers of logs. */
function detailOf(code: string, message: string): string {
  const begin = message.startsWith(`${code}: `) ? code.length + 2 : 0
  return message.slice(begin).replace(/ \(https:\/\/[^)]*\)$/, '')
}
