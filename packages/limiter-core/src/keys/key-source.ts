import { isPromise } from '../contracts/maybe-promise.ts'
import type { RequestHook } from '../contracts/request-hook.ts'
import type { MaybePromise, RequestView } from '../contracts.ts'
import { type AddressRules, addressKeyOfPeer, compileAddressOptions, isWholeIPv6 } from './address-key.ts'

/**
 * A special result instead of a key. It is a registered symbol, so that two versions of a package in one process
 * share it.
 */
export type KeySign<Name extends string> = symbol & { readonly description: Name }

/**
 * Exempts a request from the policies with this key source, and from no others. Only `EXEMPT` and `skip` exempt
 * requests.
 */
export const EXEMPT: KeySign<'sluice.exempt'> = Symbol.for('sluice.exempt') as KeySign<'sluice.exempt'>
/** Denies the request, as if the limit were exhausted, whatever the keys of other policies are. */
export const DENY: KeySign<'sluice.deny'> = Symbol.for('sluice.deny') as KeySign<'sluice.deny'>
/** The request has no principal, as is normal for visitors: the address is counted without a warning. */
export const ANONYMOUS: KeySign<'sluice.anonymous'> = Symbol.for('sluice.anonymous') as KeySign<'sluice.anonymous'>

/** Numbers and bigints are converted to decimal strings. `undefined` counts the address instead and is reported. */
export type KeyResult = string | number | bigint | undefined | typeof EXEMPT | typeof DENY | typeof ANONYMOUS

/** The key to count, after all fallbacks. */
export type ResolvedKey = string | typeof EXEMPT | typeof DENY

/** Why the address was counted instead of the key, or what is doubtful about an address. */
export interface KeyFallback {
  readonly reason: 'undefined' | 'anonymous' | 'threw' | 'rejected' | 'not-a-string' | AddressDoubt
  readonly error?: unknown
}

/**
 * `no-address`: neither the framework nor the socket has an address. `unreadable-address`: the framework's address is
 * invalid, and the peer address of the socket is counted. `forwarded-unread`: a proxy sent a `Forwarded` header that
 * nothing reads. `whole-ipv6`: the key is a full IPv6 address instead of its prefix.
 */
export type AddressDoubt = 'no-address' | 'unreadable-address' | 'forwarded-unread' | 'whole-ipv6'

export type ReportFallback = (fallback: KeyFallback) => void

export const reportNothing: ReportFallback = () => {}

/** Names the key of a request. Your own function takes the framework's request; built-in sources read the view. */
export type KeySource<Raw = unknown> = RequestHook<
  // the last two are for sources that combine others and pass them on to `resolveKey`
  [request: Raw, view: RequestView<Raw>, report?: ReportFallback, rules?: AddressRules],
  KeyResult
> & {
  /** Name of the source in logs. */
  readonly label?: string
}

/** All requests without a readable address share this one key. */
export const NO_ADDRESS = 'no-address'
const FALLBACK = '\0address:'
/** Label of the source that counts addresses, which applies its own prefix. */
export const ADDRESS = 'ip'
const DEFAULT_RULES = compileAddressOptions()

/** A request whose key is being resolved, and how a fallback address is shortened and reported. */
interface AskedRequest {
  readonly view: RequestView
  readonly rules: AddressRules
  readonly report: ReportFallback
}

/**
 * Resolves the key of a request; never returns undefined, throws or rejects. If the source fails to return a key, the
 * client address is counted, shortened by `rules`, and `report`, which must not throw, receives the reason.
 * Synchronous if the source is.
 */
export function resolveKey<Raw>(
  source: KeySource<Raw>,
  view: RequestView<Raw>,
  report: ReportFallback,
  rules: AddressRules = DEFAULT_RULES,
): MaybePromise<ResolvedKey> {
  const asked = { view, rules, report }
  try {
    const result: unknown = source(view.raw, view, report, rules)
    if (typeof result === 'string' || !isPromise(result)) return keyOf(result, source, asked)
    return Promise.resolve(result).then(
      (value) => keyOf(value, source, asked),
      (error: unknown) => addressInstead(asked, { reason: 'rejected', error }),
    )
  } catch (error) {
    return addressInstead(asked, { reason: 'threw', error })
  }
}

function keyOf(value: unknown, { label }: KeySource<never>, asked: AskedRequest): ResolvedKey {
  if (typeof value === 'string') {
    // an address that `byIp` would have cut
    if (label !== ADDRESS && isWholeIPv6(value, DEFAULT_RULES)) asked.report({ reason: 'whole-ipv6' })
    // A legal header value never contains NUL, but a key from a body can. An additional NUL in front separates every
    // user-defined key from every fallback key.
    return value.charCodeAt(0) === 0 ? `\0${value}` : value
  }
  if (value === EXEMPT || value === DENY) return value as ResolvedKey
  if (value === undefined) return addressInstead(asked, { reason: 'undefined' })
  if (value === ANONYMOUS) return addressInstead(asked, { reason: 'anonymous' })
  if (typeof value === 'bigint' || Number.isFinite(value)) return String(value)
  return addressInstead(asked, { reason: 'not-a-string' })
}

function addressInstead({ view, rules, report }: AskedRequest, why: KeyFallback): string {
  report(why)
  return FALLBACK + keyOfAddress(view, rules, report)
}

/**
 * Returns the client address as a key: the framework's address, or the peer address of the socket if it is invalid,
 * or `no-address` if both are. `report` receives what is doubtful about it.
 */
export function keyOfAddress(view: RequestView, rules: AddressRules, report: ReportFallback): string {
  let ip: unknown
  try {
    ip = view.ip
  } catch {
    // a framework computes the address on demand, by a trust function that may be the user's own
  }
  const key = addressKeyOfPeer(ip, rules)
  if (key !== undefined) {
    if (view.header('forwarded') !== undefined && ip === view.peer) report({ reason: 'forwarded-unread' })
    return key
  }
  const peer = addressKeyOfPeer(view.peer, rules)
  if (peer !== undefined) {
    if (typeof ip === 'string') report({ reason: 'unreadable-address' })
    return peer
  }
  report({ reason: 'no-address' })
  return NO_ADDRESS
}
