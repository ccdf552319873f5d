import type { IncomingMessage } from 'node:http'
import type { Clock } from '@sluice/limiter-core'
import { bodyOf } from './page-body.ts'

/** A form with one token. */
const MOST_BYTES = 4_096

/** The token of a login form; empty where there is none, or more than a form would send. */
export async function sentToken(req: IncomingMessage, clock: Clock): Promise<string> {
  const body = await bodyOf(req, MOST_BYTES, clock)
  if (typeof body === 'string') return new URLSearchParams(body).get('token') ?? ''
  return textOf((body as { readonly token?: unknown } | undefined)?.token)
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
