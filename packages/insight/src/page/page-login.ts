import type { IncomingMessage } from 'node:http'
import type { Clock } from '@sluice/limiter-core'
import { bodyOf } from './page-body.ts'

/** Maximum size of a login form, which contains one token. */
const MAX_BYTES = 4_096

/** Returns the token of a login form; empty if there is none, or the body is larger than a form. */
export async function submittedToken(req: IncomingMessage, clock: Clock): Promise<string> {
  const body = await bodyOf(req, MAX_BYTES, clock)
  if (typeof body === 'string') return new URLSearchParams(body).get('token') ?? ''
  return textOf((body as { readonly token?: unknown } | undefined)?.token)
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
