import type { Clock, Counters } from '@sluice/limiter-core'
import {
  badOption,
  clockOf,
  type Duration,
  Observers,
  optionsOf,
  parseTimerMs,
  SluiceError,
} from '@sluice/limiter-core/backend'
import { OwnerRing } from '../../owners/owner-ring.ts'
import { RoutedCounters } from '../../owners/routed-counters.ts'
import { ClientCalls } from './client-request.ts'
import { HttpCounters } from './http-counters.ts'

export interface CounterClientOptions {
  /**
   * Where a `counterService` answers: `https://counters.internal`, or a path below. Of several nodes (`ownedCounters`) their
   * addresses by the names that they have among themselves: each id is asked of its owner at once, without a hop, and
   * while that gives no answer of the next node.
   */
  readonly url: string | URL | Readonly<Record<string, string | URL>>
  /** A Bearer token of it. Default: none. */
  readonly token?: string | undefined
  /** Keeps connections open as it does. Default: that of Node. */
  readonly fetch?: typeof globalThis.fetch | undefined
  /** How often a call is sent again that got no answer or was put off, 0 to 10. Default: 2. */
  readonly retries?: number | undefined
  /** How long a call takes at most, what is sent again included. Default: 10 s; at each of several nodes 1 s. */
  readonly waitMs?: Duration | undefined
  /** Of several nodes, how long one that gave no answer is left out. Default: 2 s. */
  readonly downMs?: Duration | undefined
  readonly clock?: Partial<Clock> | undefined
}

const OPTIONS = ['url', 'token', 'fetch', 'retries', 'waitMs', 'downMs', 'clock'] as const
const TOKEN = /^[\w\-.~+/]+=*$/
const MOST_RETRIES = 10

/**
 * Counters that a `counterService` keeps. What reads is sent again where no answer comes, and so is what counts, each under
 * a token: its own, or a random one, so that it counts once. A reset and a deletion are sent once. The ledger keeps each
 * token for 24 hours, one in memory a million of them: with `retries: 0` an increment without a token has none, and is
 * answered before it is durable.
 *
 * Of several nodes each id is asked of its owner, and batches, lists and sums of the first that answers.
 *
 * Ids, prefixes and tokens are text that UTF-8 can say, and `.` and `..` are no ids here, since no address has them; a
 * batch is at most 64 KiB of JSON. A service that denies rejects with `SLUICE_DENIED`, one that does not answer with
 * `SLUICE_COUNTERS_UNAVAILABLE`. `close` flushes, and leaves the service as it is.
 *
 * Throws `SLUICE_BAD_OPTION` and `SLUICE_BAD_DURATION`.
 */
export function counterClient(options: CounterClientOptions): Counters {
  const { url, token, fetch = globalThis.fetch, retries = 2, downMs = 2_000, clock } = checked(options)
  const isOne = typeof url === 'string' || url instanceof URL
  const { waitMs = isOne ? 10_000 : 1_000 } = options
  if (token !== undefined && (typeof token !== 'string' || !TOKEN.test(token))) {
    throw badOption('counterClient: token', token, 'a Bearer token')
  }
  if (typeof fetch !== 'function') throw badOption('counterClient: fetch', fetch, 'a function like fetch')
  if (!Number.isInteger(retries) || retries < 0 || retries > MOST_RETRIES) {
    throw badOption('counterClient: retries', retries, `a whole number from 0 to ${MOST_RETRIES}`)
  }
  const settings = { fetch, retries, waitMs: parseTimerMs(waitMs, 'counterClient: waitMs'), clock: clockOf(clock) }
  const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` }
  const clientOf = (address: unknown): Counters =>
    new HttpCounters(new ClientCalls({ ...settings, base: baseOf(address) }), { retries, headers })
  const down = parseTimerMs(downMs, 'counterClient: downMs')
  if (isOne) return clientOf(url)
  const named = Array.isArray(url) ? {} : Object(url)
  const nodes = new Map(Object.entries(named).map(([name, address]) => [name, clientOf(address)]))
  if (nodes.size === 0) throw badOption('counterClient: url', url, 'an address, or addresses by the names of nodes')
  const ring = new OwnerRing([...nodes.keys()].sort(), { clock: settings.clock, downMs: down })
  return new RoutedCounters({ nodes, self: undefined, givesTokens: retries > 0, ring, observers: new Observers() })
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
  throw new SluiceError('SLUICE_BAD_OPTION', `counterClient: url: expected ${expected}, received something else`)
}
