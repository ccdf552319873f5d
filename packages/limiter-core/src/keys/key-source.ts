import { isPromise } from '../contracts/maybe-promise.ts'
import type { RequestHook } from '../contracts/request-hook.ts'
import type { MaybePromise, RequestView } from '../contracts.ts'
import { type AddressRules, addressKeyOfPeer, addressRules, isWholeIPv6 } from './address-key.ts'

/**
 * A special result of a key source instead of a key. It is a registered symbol, so that several versions of a package
 * in one process share it.
 */
export type KeySign<Name extends string> = symbol & { readonly description: Name }

/** Exempts the request from the policies with this key source; other policies still count it. */
export const EXEMPT: KeySign<'sluice.exempt'> = Symbol.for('sluice.exempt') as KeySign<'sluice.exempt'>
/** Denies the request as if the limit were exhausted, even if other policies would allow or exempt it. */
export const DENY: KeySign<'sluice.deny'> = Symbol.for('sluice.deny') as KeySign<'sluice.deny'>
/** Counts the client address instead of a key, without a warning. Used for visitors without a principal. */
export const ANONYMOUS: KeySign<'sluice.anonymous'> = Symbol.for('sluice.anonymous') as KeySign<'sluice.anonymous'>

/**
 * Result of a key source. Numbers and bigints are converted to decimal strings. For `undefined` the client address is
 * counted, and the fallback is reported.
 */
export type KeyResult = string | number | bigint | undefined | typeof EXEMPT | typeof DENY | typeof ANONYMOUS

/** Result of a key source after all fallbacks. */
export type ResolvedKey = string | typeof EXEMPT | typeof DENY

/** Reported if the client address is counted instead of a key, or if a key may not identify what is counted. */
export interface KeyFallback {
  readonly reason: 'undefined' | 'anonymous' | 'threw' | 'rejected' | 'not-a-string' | AddressDoubt
  readonly error?: unknown
}

/**
 * - `no-address`: neither the framework nor the socket provides a valid address.
 * - `unreadable-address`: the framework's address is invalid, so the address of the socket is counted.
 * - `forwarded-unread`: the request has a `Forwarded` header, which the framework does not evaluate.
 * - `whole-ipv6`: the key is a full IPv6 address instead of a prefix.
 * - `no-route`: the key is that of all requests without a route, because the limiter runs before the router.
 */
export type AddressDoubt = 'no-address' | 'unreadable-address' | 'forwarded-unread' | 'whole-ipv6' | 'no-route'

export type ReportFallback = (fallback: KeyFallback) => void

export const reportNothing: ReportFallback = () => {}

/** Returns the key of a request. Custom functions usually read the request; built-in sources read the view. */
export type KeySource<Raw = unknown> = RequestHook<
  // `report` and `rules` are for sources that combine other sources by `resolveKey`
  [request: Raw, view: RequestView<Raw>, report?: ReportFallback, rules?: AddressRules],
  KeyResult
> & {
  /** Name of the source in logs. */
  readonly label?: string
  /** Set for `byIp`: the key is the client address, shortened by these rules, and needs no other check. */
  readonly addressRules?: AddressRules
}

/** Key that all requests without a valid address share. */
export const NO_ADDRESS = 'no-address'
const FALLBACK = '\0address:'

/** A request whose key is being resolved, and how a fallback to its address is shortened and reported. */
interface Resolution {
  readonly view: RequestView
  readonly rules: AddressRules | undefined
  readonly report: ReportFallback
}

/**
 * Returns the key of a request; never throws or rejects. If the source provides no key, the key is the client address,
 * shortened by `rules`, and `report`, which must not throw, receives the reason. Synchronous if the source is.
 */
export function resolveKey<Raw>(
  source: KeySource<Raw>,
  view: RequestView<Raw>,
  report: ReportFallback,
  rules?: AddressRules,
): MaybePromise<ResolvedKey> {
  const { addressRules } = source
  if (addressRules) return keyOfAddress(view, addressRules, report)
  const resolution = { view, rules, report }
  try {
    const result: unknown = source(view.raw, view, report, rules)
    if (typeof result === 'string' || !isPromise(result)) return keyOf(result, resolution)
    return Promise.resolve(result).then(
      (value) => keyOf(value, resolution),
      (error: unknown) => addressInstead(resolution, { reason: 'rejected', error }),
    )
  } catch (error) {
    return addressInstead(resolution, { reason: 'threw', error })
  }
}

/** Returns the key of a value: a NUL in front, which bodies can contain, separates it from the key of each fallback. */
export function ownKey(value: string | number | bigint): string {
  const text = String(value)
  return text.charCodeAt(0) === 0 ? `\0${text}` : text
}

function keyOf(value: unknown, resolution: Resolution): ResolvedKey {
  if (typeof value === 'string') {
    if (isWholeIPv6(value)) resolution.report({ reason: 'whole-ipv6' })
    return ownKey(value)
  }
  if (value === EXEMPT || value === DENY) return value as ResolvedKey
  if (value === undefined) return addressInstead(resolution, { reason: 'undefined' })
  if (value === ANONYMOUS) return addressInstead(resolution, { reason: 'anonymous' })
  if (typeof value === 'bigint' || Number.isFinite(value)) return ownKey(value as number | bigint)
  return addressInstead(resolution, { reason: 'not-a-string' })
}

function addressInstead({ view, rules, report }: Resolution, why: KeyFallback): string {
  report(why)
  return FALLBACK + keyOfAddress(view, rules ?? addressRules(), report)
}

/**
 * Returns the client address as a key: the framework's address or, if it is invalid, the address of the socket or, if
 * both are invalid, `no-address`. `report` receives the reason why the address may not identify the client.
 */
export function keyOfAddress(view: RequestView, rules: AddressRules, report: ReportFallback): string {
  let ip: unknown
  try {
    ip = view.ip
  } catch {
    // the framework may compute the address by a user-defined trust function, which can throw
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
