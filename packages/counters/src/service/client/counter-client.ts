import type { Clock, Counters } from '@sluice/limiter-core'
import { badOption, clockOf, type Duration, optionsOf, parseTimerMs, SluiceError } from '@sluice/limiter-core/backend'
import { ClientCalls } from './client-request.ts'
import { HttpCounters } from './http-counters.ts'

export interface CounterClientOptions {
  /** Where a `counterService` answers: `https://counters.internal`, or a path below. */
  readonly url: string | URL
  /** A Bearer token of it. Default: none. */
  readonly token?: string | undefined
  /** Keeps connections open as it does. Default: that of Node. */
  readonly fetch?: typeof globalThis.fetch | undefined
  /** How often a call is sent again that got no answer or was put off, 0 to 10. Default: 2. */
  readonly retries?: number | undefined
  /** How long a call takes at most, what is sent again included. Default: 10 s. */
  readonly waitMs?: Duration | undefined
  readonly clock?: Partial<Clock> | undefined
}

const OPTIONS = ['url', 'token', 'fetch', 'retries', 'waitMs', 'clock'] as const
const TOKEN = /^[\w\-.~+/]+=*$/
const MOST_RETRIES = 10

/**
 * Counters that a `counterService` keeps. What reads is sent again where no answer comes, and so is what counts, each under
 * a token: its own, or a random one, so that it counts once. A reset and a deletion are sent once. The ledger keeps each
 * token for 24 hours, one in memory a million of them: with `retries: 0` an increment without a token has none, and is
 * answered before it is durable.
 *
 * Ids, prefixes and tokens are text that UTF-8 can say, and `.` and `..` are no ids here, since no address has them; a
 * batch is at most 64 KiB of JSON. A service that denies rejects with `SLUICE_DENIED`, one that does not answer with
 * `SLUICE_COUNTERS_UNANSWERED`. `close` flushes, and leaves the service as it is.
 *
 * Throws `SLUICE_BAD_OPTION` and `SLUICE_BAD_DURATION`.
 */
export function counterClient(options: CounterClientOptions): Counters {
  const { url, token, fetch = globalThis.fetch, retries = 2, waitMs = 10_000, clock } = checked(options)
  if (token !== undefined && (typeof token !== 'string' || !TOKEN.test(token))) {
    throw badOption('counterClient: token', token, 'a Bearer token')
  }
  if (typeof fetch !== 'function') throw badOption('counterClient: fetch', fetch, 'a function like fetch')
  if (!Number.isInteger(retries) || retries < 0 || retries > MOST_RETRIES) {
    throw badOption('counterClient: retries', retries, `a whole number from 0 to ${MOST_RETRIES}`)
  }
  const calls = new ClientCalls({
    base: baseOf(url),
    fetch,
    retries,
    waitMs: parseTimerMs(waitMs, 'counterClient: waitMs'),
    clock: clockOf(clock),
  })
  return new HttpCounters(calls, { retries, headers: token === undefined ? {} : { Authorization: `Bearer ${token}` } })
}

function checked(options: CounterClientOptions): CounterClientOptions {
  return optionsOf('counterClient', options, OPTIONS)
}

/** The address without a slash at its end. */
function baseOf(url: unknown): string {
  const parsed = URL.canParse(String(url)) ? new URL(String(url)) : undefined
  const isAddress = parsed && /^https?:$/.test(parsed.protocol) && parsed.search === '' && parsed.hash === ''
  if (isAddress && parsed.username === '' && parsed.password === '') return parsed.href.replace(/\/+$/, '')
  const expected = 'http: or https:, without a user, a query and a fragment'
  throw new SluiceError('SLUICE_BAD_OPTION', `counterClient: url: got something else, expected ${expected}`)
}
