import type { ProxyPreset } from '../proxy-trust.ts'
import { AddressSet } from './address-set.ts'
import { PUBLISHED_RANGES, type PublishedRanges } from './proxy-ranges.ts'

/** How a proxy reports the address of its client. */
export interface ProxyRules {
  readonly header: string
  /** Whether the header has a single value, which the proxy replaces. Otherwise the proxy appends to a list. */
  readonly single?: boolean
  /** Number of values that the proxy appends after the address of its client. Default: 0. */
  readonly trailing?: number
  /** Number of such proxies that a request may pass. Default: 1. */
  readonly hops?: number
  /** Header with the IPv6 address, if the other one has an address of class E (240.0.0.0/4) in its place. */
  readonly ipv6Header?: string
  /** Addresses of the proxy. */
  readonly ranges: readonly string[]
  /** The list from which the addresses were read, if the provider publishes one. */
  readonly published?: PublishedRanges
  /** Whether a request also comes from the proxy if the runtime provides no peer address. */
  readonly unknownPeer?: boolean
}

const LIST = 'x-forwarded-for'
const VPC = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10']
const LOCAL = ['127.0.0.0/8', '::1', '169.254.0.0/16', 'fe80::/10']
/** Addresses that no packet from the internet can have. */
export const PRIVATE_RANGES: readonly string[] = [...VPC, ...LOCAL, 'fc00::/7']
const OWN_PROXY: ProxyRules = { header: LIST, ranges: PRIVATE_RANGES }

function published(list: PublishedRanges): Pick<ProxyRules, 'ranges' | 'published'> {
  return { ranges: list.ranges, published: list }
}

export const PROXY_PRESETS: Readonly<Record<ProxyPreset, ProxyRules>> = {
  cloudflare: {
    header: 'cf-connecting-ip',
    single: true,
    ipv6Header: 'cf-connecting-ipv6',
    ...published(PUBLISHED_RANGES.cloudflare),
  },
  // a client can send Fastly-Client-IP; with shielding, a request passes two nodes, and each appends
  fastly: { header: LIST, hops: 2, ...published(PUBLISHED_RANGES.fastly) },
  fly: { header: 'fly-client-ip', single: true, ranges: ['172.16.0.0/12', 'fdaa::/16'] },
  vercel: { header: 'x-vercel-forwarded-for', ranges: LOCAL, unknownPeer: true },
  'aws-alb': { header: LIST, ranges: VPC },
  'aws-cloudfront': { header: LIST, ...published(PUBLISHED_RANGES['aws-cloudfront']) },
  // appends the client and its own address
  'gcp-lb': {
    header: LIST,
    trailing: 1,
    ranges: ['35.191.0.0/16', '130.211.0.0/22', '2600:2d00:1:b029::/64', '2600:2d00:1:1::/64'],
  },
  // a client can choose X-Azure-ClientIP by X-Forwarded-For, but not this header
  'azure-front-door': {
    header: 'x-azure-socketip',
    single: true,
    ...published(PUBLISHED_RANGES['azure-front-door']),
  },
  // appends the address with its port; its addresses are those of its subnet
  'azure-app-gateway': { header: LIST, ranges: VPC },
  heroku: { header: LIST, ranges: ['10.0.0.0/8'] },
  // behind Cloudflare, with up to two nodes of its own
  render: { header: LIST, hops: 2, ranges: ['10.0.0.0/8'] },
  // X-Forwarded-For ends with the address of a changing node
  railway: { header: 'x-real-ip', single: true, ranges: ['100.64.0.0/10'] },
  'cloud-run': { header: LIST, ranges: ['169.254.0.0/16'] },
  nginx: OWN_PROXY,
  traefik: OWN_PROXY,
  'k8s-ingress': OWN_PROXY,
}

/** Proxies at addresses of the internet, which are theirs alone. */
export const PUBLIC_PROXIES = ['cloudflare', 'fastly', 'aws-cloudfront', 'azure-front-door', 'gcp-lb'] as const

const compiled = new Map<ProxyPreset, AddressSet>()

/** Returns the addresses of a preset, which are compiled when they are first needed. */
export function presetAddresses(name: ProxyPreset): AddressSet {
  let addresses = compiled.get(name)
  if (addresses === undefined) {
    addresses = new AddressSet(PROXY_PRESETS[name].ranges)
    compiled.set(name, addresses)
  }
  return addresses
}
