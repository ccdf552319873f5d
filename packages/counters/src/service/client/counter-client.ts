import type { Counters } from '@sluice/fleet/backend'
import type { Clock } from '@sluice/limiter-core'
import {
  badOption,
  clockOf,
  type Duration,
  integerFrom,
  kindOf,
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
   * Address of a `counterService`, for example `https://counters.internal`, optionally with a path. For several nodes
   * (`ownedCounters`), an object of addresses by the names the nodes use among themselves: calls for an id go directly
   * to its owner, or to the next node while the owner does not reply.
   */
  readonly url: string | URL | Readonly<Record<string, string | URL>>
  /** Bearer token of the service. Default: none. */
  readonly token?: string | undefined
  /** Replacement for `fetch`, which also manages connections. Default: the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch | undefined
  /** Number of retries of a call that received no reply or a temporary error, 0 to 10. Default: 2. */
  readonly retries?: number | undefined
  /** Timeout of a call including its retries. Default: 10 s, or 1 s at each of several nodes. */
  readonly waitMs?: Duration | undefined
  /** Time for which a node that did not reply is skipped, if there are several. Default: 2 s. */
  readonly downMs?: Duration | undefined
  readonly clock?: Partial<Clock> | undefined
}

const OPTIONS = ['url', 'token', 'fetch', 'retries', 'waitMs', 'downMs', 'clock'] as const
const TOKEN = /^[\w\-.~+/]+=*$/
const MAX_RETRIES = 10

/**
 * Creates a client for the counters of a `counterService`. Reads and increments are retried if there is no reply.
 * Increments have a token, the caller's or a random one, so that each counts once. The ledger keeps each token for 24
 * hours, a ledger in memory up to a million tokens. With `retries: 0`, an increment without a token is sent without
 * one, and its reply does not wait until it is durable. Resets and deletions are sent once.
 *
 * With several nodes, calls for one id go to its owner; batches, lists and sums go to the first node that replies.
 *
 * Ids, prefixes and tokens must not contain lone surrogates. The ids `.` and `..` are rejected, because a URL cannot
 * contain them. A batch is at most 64 KiB of JSON. Calls reject with `SLUICE_DENIED` if the service denies them, and
 * with `SLUICE_COUNTERS_UNAVAILABLE` if it does not reply. `close` flushes; it does not close the service.
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
  if (typeof fetch !== 'function') throw badOption('counterClient: fetch', fetch, 'a function such as fetch')
  integerFrom('counterClient: retries', retries, 0, MAX_RETRIES)
  const settings = { fetch, retries, waitMs: parseTimerMs(waitMs, 'counterClient: waitMs'), clock: clockOf(clock) }
  const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` }
  const clientOf = (address: unknown): Counters =>
    new HttpCounters(new ClientCalls({ ...settings, base: baseOf(address) }), { retries, headers })
  const down = parseTimerMs(downMs, 'counterClient: downMs')
  if (isOne) return clientOf(url)
  const named = Array.isArray(url) ? {} : Object(url)
  const nodes = new Map(Object.entries(named).map(([name, address]) => [name, clientOf(address)]))
  if (nodes.size === 0) throw badOption('counterClient: url', url, 'an address, or an object of addresses by node name')
  const ring = new OwnerRing([...nodes.keys()].sort(), { clock: settings.clock, downMs: down })
  return new RoutedCounters({ nodes, self: undefined, generatesTokens: retries > 0, ring, observers: new Observers() })
}

function checked(options: CounterClientOptions): CounterClientOptions {
  return optionsOf('counterClient', options, OPTIONS)
}

/** Returns the address without trailing slashes. */
function baseOf(url: unknown): string {
  const parsed = URL.canParse(String(url)) ? new URL(String(url)) : undefined
  const isAddress = parsed && /^https?:$/.test(parsed.protocol) && parsed.search === '' && parsed.hash === ''
  if (isAddress && parsed.username === '' && parsed.password === '') return parsed.href.replace(/\/+$/, '')
  const expected = 'an http or https URL without a user, a query and a fragment'
  throw new SluiceError('SLUICE_BAD_OPTION', `counterClient: url: expected ${expected}, received ${kindOf(url)}`)
}
