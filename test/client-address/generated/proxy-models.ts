import type { ProxyTrust } from '@sluice/http'
import type { SeededRandom } from '@sluice/testkit'

/** Headers of a request on its way, by lower-case name; values of a repeated header are joined by `, `. */
export type Headers = Record<string, string>

/** A proxy as its provider describes it: from where it sends, and what it does with the headers of a request. */
export interface ProxyModel {
  readonly name: string
  /** The entry of `trust` for a proxy at this address. */
  readonly entry: (address: string) => ProxyTrust
  readonly addresses: (random: SeededRandom) => string
  /** Headers that make the proxy known, beside the address of the client. */
  readonly signs?: Headers | undefined
  /** Writes the address of the sender into the headers, in place. */
  readonly forward: (headers: Headers, from: string, random: SeededRandom) => void
}

const LIST = 'x-forwarded-for'
const byte = (random: SeededRandom): number => 1 + random.whole(254)
const privateV4 = (random: SeededRandom): string =>
  random.pick([
    `10.${byte(random)}.3.${byte(random)}`,
    `172.18.0.${2 + random.whole(250)}`,
    `192.168.7.${byte(random)}`,
  ])
const local = (random: SeededRandom): string =>
  random.pick(['127.0.0.1', '::1', privateV4(random), `fd00::${byte(random).toString(16)}`, 'fe80::7%eth0'])

const append = (headers: Headers, from: string): void => {
  const before = headers[LIST]
  headers[LIST] = before === undefined ? from : `${before}, ${from}`
}

/** Writes an address with a port, as Azure does. */
const withPort = (address: string, random: SeededRandom): string => {
  const port = 1_024 + random.whole(60_000)
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`
}

const appends = (name: ProxyTrust & string, addresses: ProxyModel['addresses'], signs?: Headers): ProxyModel => ({
  name,
  entry: () => name,
  addresses,
  signs,
  forward: append,
})

const single = (name: ProxyTrust & string, header: string, addresses: ProxyModel['addresses'], signs?: Headers) => ({
  name,
  entry: () => name,
  addresses,
  signs,
  forward: (headers: Headers, from: string): void => {
    headers[header] = from
    append(headers, from)
  },
})

/** Writes the element of a `Forwarded` header, with the quotes, ports and parameters that RFC 7239 permits. */
function forwardedElement(from: string, random: SeededRandom): string {
  const isV6 = from.includes(':')
  const port = random.pick(['', ':4711', ':_hidden-port'])
  const node = (isV6 ? `[${from}]` : from) + port
  const value = isV6 || port !== '' || random.next() < 0.3 ? `"${node}"` : node
  const others = [`proto=https`, `by=_edge`, `host="a, b;for=\\"192.0.2.99\\""`].filter(() => random.next() < 0.4)
  others.splice(random.whole(others.length + 1), 0, `${random.pick(['for', 'For', 'FOR'])}=${value}`)
  return others.join(random.pick([';', '; ']))
}

/** Proxies that an application may trust. */
export const PROXIES: readonly ProxyModel[] = [
  appends('nginx', local),
  appends('traefik', privateV4, { 'x-forwarded-server': 'edge' }),
  appends('k8s-ingress', privateV4, { 'x-scheme': 'https' }),
  appends('aws-alb', (random) => `10.0.${byte(random)}.${byte(random)}`, { 'x-amzn-trace-id': 'Root=1' }),
  appends('heroku', (random) => `10.1.${byte(random)}.${byte(random)}`, { 'x-request-start': '1' }),
  appends('cloud-run', () => '169.254.1.1', { 'x-cloud-trace-context': 'a/1' }),
  appends('aws-cloudfront', (random) => `130.176.88.${byte(random)}`, { 'x-amz-cf-id': 'a' }),
  appends('fastly', (random) => `151.101.2.${byte(random)}`, { 'fastly-ff': 'a' }),
  {
    ...appends('azure-app-gateway', privateV4, { 'x-appgw-trace-id': 'a' }),
    forward: (headers, from, random) => append(headers, withPort(from, random)),
  },
  single('cloudflare', 'cf-connecting-ip', (random) => `172.68.10.${byte(random)}`, { 'cf-ray': 'a' }),
  single('azure-front-door', 'x-azure-socketip', (random) => `147.243.7.${byte(random)}`, { 'x-azure-ref': 'a' }),
  {
    ...single('fly', 'fly-client-ip', (random) => `172.16.4.${byte(random)}`),
    forward: (headers, from) => {
      headers['fly-client-ip'] = from
      append(headers, from)
      append(headers, '66.241.124.1')
    },
  },
  {
    ...single('railway', 'x-real-ip', (random) => `100.64.0.${byte(random)}`, { 'x-railway-edge': 'a' }),
    forward: (headers, from, random) => {
      headers['x-real-ip'] = from
      headers[LIST] = `${from}, 152.233.33.${161 + random.whole(3)}`
    },
  },
  {
    ...single('vercel', 'x-vercel-forwarded-for', () => '127.0.0.1', { 'x-vercel-id': 'a' }),
    forward: (headers, from) => {
      headers['x-vercel-forwarded-for'] = from
      headers[LIST] = from
    },
  },
  {
    ...appends('gcp-lb', (random) => `35.191.4.${byte(random)}`, { 'x-cloud-trace-context': 'a/1' }),
    forward: (headers, from) => {
      append(headers, from)
      append(headers, '34.120.8.8')
    },
  },
  {
    name: 'nginx that overwrites',
    entry: () => 'nginx',
    addresses: privateV4,
    forward: (headers, from) => {
      headers[LIST] = from
    },
  },
  {
    name: 'cloudflared',
    entry: (address) => ({ preset: 'cloudflare', ranges: [address] }),
    addresses: () => '127.0.0.1',
    signs: { 'cf-ray': 'a' },
    forward: (headers, from) => {
      headers['cf-connecting-ip'] = from
      append(headers, from)
    },
  },
  {
    name: 'own proxy with Forwarded',
    entry: (address) => ({ ranges: [address], header: 'Forwarded' }),
    addresses: privateV4,
    forward: (headers, from, random) => {
      const element = forwardedElement(from, random)
      headers.forwarded = headers.forwarded === undefined ? element : `${headers.forwarded}, ${element}`
    },
  },
]
