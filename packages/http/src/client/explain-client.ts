import { clientKey, optionsOf } from '@sluice/limiter-core/http'
import type { ProxyTrustOption } from '../proxy-trust.ts'
import { readAddress } from './address-set.ts'
import type { ClientSource } from './client-source.ts'
import { type Hop, TrustedProxies } from './trusted-proxies.ts'

export interface ExplainClientOptions {
  /** The option `trust` of the limiter in question. Default: the framework's setting. */
  readonly trust?: ProxyTrustOption | undefined
}

/** The address that counts for a request, and the reason. */
export interface ClientExplanation {
  /** The address of the client; undefined if there is none. */
  readonly address: string | undefined
  /** The key that `byIp()` counts. */
  readonly key: string
  /** The address of the socket's peer. */
  readonly peer: string | undefined
  /** What decided: trusted proxies, the framework's setting, or the socket. */
  readonly decidedBy: 'trust' | 'framework' | 'peer'
  /** The reason in words, one sentence per line. */
  readonly text: string
}

/**
 * Explains which address counts for a request. `setting` names the framework's own option. Throws `SLUICE_BAD_OPTION`.
 */
export function explainSource(
  source: ClientSource,
  options: ExplainClientOptions = {},
  setting?: string,
): ClientExplanation {
  const { trust } = optionsOf('explainClient', options, ['trust'])
  return trust === undefined ? bySetting(source, setting) : byTrust(source, new TrustedProxies(trust))
}

function byTrust(source: ClientSource, proxies: TrustedProxies): ClientExplanation {
  const hops: Hop[] = []
  const address = proxies.addressOf(source, hops)
  const lines = hops.map(({ from, proxy, header, to }) =>
    to === undefined
      ? `${from} is a trusted proxy (${proxy}), but its header ${header} proves no address.`
      : `${from} is a trusted proxy (${proxy}), and its header ${header} names ${to}.`,
  )
  const isProven = hops.every(({ to }) => to !== undefined)
  if (isProven && address !== undefined) lines.push(`${address} is not trusted as a proxy, or no further hop is.`)
  return explained(source, address, hops.length > 0 && isProven ? 'trust' : 'peer', lines)
}

function bySetting(source: ClientSource, setting: string | undefined): ClientExplanation {
  const { ip, peer } = source
  const isValid = readAddress(ip) !== undefined
  const isPeer = !isValid || ip === peer
  const lines = isPeer
    ? peerReasons(source)
    : [`The framework names this address${setting === undefined ? '' : `, by ${setting}`}.`]
  if (ip !== undefined && !isValid) lines.unshift(`The framework names ${JSON.stringify(ip)}, which is not an address.`)
  return explained(source, isValid ? ip : peer, isPeer ? 'peer' : 'framework', lines)
}

function peerReasons(source: ClientSource): string[] {
  const lines = [source.peer === undefined ? 'The socket has no address.' : 'It is the address of the socket.']
  if (source.headerText('x-forwarded-for') !== undefined) {
    lines.push('X-Forwarded-For is not read, since no proxy is trusted to write it.')
  }
  return lines
}

function explained(
  { peer }: ClientSource,
  address: string | undefined,
  decidedBy: ClientExplanation['decidedBy'],
  reasons: readonly string[],
): ClientExplanation {
  const key = clientKey(address)
  return { address, key, peer, decidedBy, text: [`Counted as ${key}.`, ...reasons].join('\n') }
}
