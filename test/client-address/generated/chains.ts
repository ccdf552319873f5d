import { type ClientSource, type ProxyTrust, parseAddress } from '@sluice/http'
import type { SeededRandom } from '@sluice/testkit'
import { AddressSet } from '../../../packages/http/src/client/address-set.ts'
import { isPrivate } from '../../../packages/http/src/client/private-addresses.ts'
import { PROXY_PRESETS } from '../../../packages/http/src/client/proxy-presets.ts'
import { type Headers, PROXIES, type ProxyModel } from './proxy-models.ts'

/** A proxy of a chain, at its address. */
export interface Placed {
  readonly proxy: ProxyModel
  readonly address: string
  readonly entry: ProxyTrust
}

/** Names of proxies that drop what earlier proxies wrote into X-Forwarded-For. */
const OVERWRITING = ['railway', 'vercel', 'nginx that overwrites']
/** Names of proxies whose own header later proxies pass on. */
const WITH_OWN_HEADER = ['cloudflare', 'cloudflared', 'azure-front-door', 'fly']

/** Names of proxies that run in the network of other proxies. */
export const IN_A_NETWORK = [
  'nginx',
  'nginx that overwrites',
  'traefik',
  'k8s-ingress',
  'aws-alb',
  'azure-app-gateway',
  'own proxy with Forwarded',
]

/** Returns a chain of 1 to 4 proxies, the one next to the application last, in which each client can be proven. */
export function randomChain(random: SeededRandom): readonly Placed[] {
  for (;;) {
    const count = 1 + random.whole(4)
    const chain = Array.from({ length: count }, () => {
      const proxy = random.pick(PROXIES)
      const address = proxy.addresses(random)
      return { proxy, address, entry: proxy.entry(address) }
    })
    if (isProvable(chain) && !isAmbiguous(chain)) return chain
  }
}

function isProvable(chain: readonly Placed[]): boolean {
  return chain.every(({ proxy }, index) => {
    // both end beside the application
    if (['cloudflared', 'vercel'].includes(proxy.name) && index < chain.length - 1) return false
    // a service on the internet sees public addresses
    if (index > 0 && !IN_A_NETWORK.includes(proxy.name) && isPrivate(chain[index - 1].address)) return false
    const isOverwritten = chain.slice(index + 1).some((later) => OVERWRITING.includes(later.proxy.name))
    return !isOverwritten || WITH_OWN_HEADER.includes(proxy.name) || proxy.name.startsWith('own')
  })
}

/** Whether an address could be that of another proxy of the chain, which reports clients in another way. */
function isAmbiguous(chain: readonly Placed[]): boolean {
  if (new Set(chain.map(({ address }) => address)).size < chain.length) return true
  // a header that two proxies of the chain replace is that of the last one
  const own = chain.map(({ proxy }) => proxy.name.replace('cloudflared', 'cloudflare'))
  if (WITH_OWN_HEADER.some((name) => own.filter((one) => one === name).length > 1)) return true
  return chain.some(({ address, entry }) => {
    return chain.some((other) => wayOf(other.entry) !== wayOf(entry) && rangesOf(other.entry).has(readable(address)))
  })
}

function readable(address: string) {
  const read = parseAddress(address)
  if (read === undefined) throw new Error(`not an address: ${address}`)
  return read
}

function rangesOf(entry: ProxyTrust): AddressSet {
  if (typeof entry !== 'string') return new AddressSet(entry.ranges)
  return new AddressSet(PROXY_PRESETS[entry].ranges)
}

/** Returns the header and place at which an entry reads the address of a client. */
function wayOf(entry: ProxyTrust): string {
  if (typeof entry === 'object' && 'header' in entry) return entry.header
  const { header, trailing = 0 } = PROXY_PRESETS[typeof entry === 'string' ? entry : entry.preset]
  return `${header} ${trailing}`
}

/** Returns a public address that belongs to no proxy. */
export function randomClient(random: SeededRandom): string {
  const byte = (): number => random.whole(256)
  if (random.next() < 0.5) return `${random.pick(['198.51', '203.0', '81.2'])}.${byte()}.${byte()}`
  return `2001:db8:${byte().toString(16)}:${byte().toString(16)}00::${byte().toString(16)}`
}

/** Returns what a client writes who wants to be counted as another one. */
export function forgedHeaders(random: SeededRandom): Headers {
  const address = (): string =>
    random.pick([randomClient(random), '127.0.0.1', '10.0.0.7', '172.68.10.9', 'unknown', '', '"', '::ffff:10.0.0.1'])
  const list = (): string => Array.from({ length: 1 + random.whole(3) }, address).join(random.pick([', ', ',', ' ,']))
  const forwarded = (): string =>
    random.pick([
      `for=${address()}`,
      `for="[2001:db8::9]"`,
      'for="open',
      'by="a, for=192.0.2.1',
      `for=${address()};for=_a`,
    ])
  const all: readonly (readonly [string, () => string])[] = [
    ['x-forwarded-for', list],
    ['forwarded', forwarded],
    ['cf-connecting-ip', address],
    ['cf-ray', () => 'forged'],
    ['true-client-ip', address],
    ['x-real-ip', list],
    ['fly-client-ip', address],
    ['x-azure-socketip', address],
    ['x-azure-clientip', address],
    ['x-vercel-forwarded-for', list],
    ['fastly-client-ip', address],
    ['x-amzn-trace-id', () => 'forged'],
    ['x-railway-edge', () => 'forged'],
  ]
  return Object.fromEntries(all.filter(() => random.next() < 0.4).map(([name, value]) => [name, value()]))
}

/** Returns a request of `client` as the application receives it. It enters the chain at `first`, past earlier proxies. */
export function sent(
  chain: readonly Placed[],
  client: string,
  written: Headers,
  random: SeededRandom,
  first = 0,
): ClientSource {
  const headers: Headers = { ...written }
  let from = client
  for (const { proxy, address } of chain.slice(first)) {
    proxy.forward(headers, from, random)
    Object.assign(headers, proxy.signs)
    from = address
  }
  const isMapped = /^[\d.]+$/.test(from) && random.next() < 0.5
  const peer = isMapped ? `::ffff:${from}` : from
  return { ip: peer, peer, headerText: (name) => headers[name] }
}
