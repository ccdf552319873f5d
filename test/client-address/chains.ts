import type { ProxyTrustOption } from '@sluice/http'

/** A request as it arrives at an application behind a chain of proxies. */
interface Arrived {
  readonly says: string
  readonly peer: string | undefined
  readonly headers?: Readonly<Record<string, string>>
  /** The address that counts. */
  readonly counts: string | undefined
}

export interface Chain {
  readonly name: string
  readonly trust: ProxyTrustOption
  readonly requests: readonly Arrived[]
}

const CLIENT = '198.51.100.7'
const OTHER = '203.0.113.66'
const FORGED = '192.0.2.99'
const CLOUDFLARE = '172.68.10.1'
const CLOUDFRONT = '130.176.88.9'
const ALB = '10.0.3.17'
const POD = '10.42.0.5'

/** The golden table: the chain, and for each request the address that counts. */
export const CHAINS: readonly Chain[] = [
  {
    name: 'client → Cloudflare → app',
    trust: 'cloudflare',
    requests: [
      { says: 'IPv4', peer: CLOUDFLARE, headers: { 'cf-connecting-ip': CLIENT }, counts: CLIENT },
      {
        says: 'IPv6 on both sides',
        peer: '2606:4700:10::6814:1',
        headers: { 'cf-connecting-ip': '2001:db8:5::1' },
        counts: '2001:db8:5::1',
      },
      {
        says: 'a mapped peer of a dual-stack socket',
        peer: `::ffff:${CLOUDFLARE}`,
        headers: { 'cf-connecting-ip': CLIENT },
        counts: CLIENT,
      },
      {
        says: 'pseudo IPv4: the IPv6 address is in another header',
        peer: CLOUDFLARE,
        headers: { 'cf-connecting-ip': '241.18.7.9', 'cf-connecting-ipv6': '2001:db8:5::1' },
        counts: '2001:db8:5::1',
      },
      { says: 'forged past Cloudflare', peer: OTHER, headers: { 'cf-connecting-ip': FORGED }, counts: OTHER },
      {
        says: 'X-Forwarded-For is not evidence',
        peer: CLOUDFLARE,
        headers: { 'cf-connecting-ip': CLIENT, 'x-forwarded-for': `${FORGED}, ${CLIENT}` },
        counts: CLIENT,
      },
      {
        says: 'a duplicated header',
        peer: CLOUDFLARE,
        headers: { 'cf-connecting-ip': `${FORGED}, ${CLIENT}` },
        counts: CLOUDFLARE,
      },
    ],
  },
  {
    name: 'client → Cloudflare → nginx → app',
    trust: ['cloudflare', 'nginx'],
    requests: [
      {
        says: 'nginx appends',
        peer: '127.0.0.1',
        headers: { 'cf-connecting-ip': CLIENT, 'x-forwarded-for': `${CLIENT}, ${CLOUDFLARE}` },
        counts: CLIENT,
      },
      {
        says: 'past Cloudflare, with a forged header',
        peer: '127.0.0.1',
        headers: { 'cf-connecting-ip': FORGED, 'x-forwarded-for': `${FORGED}, ${OTHER}` },
        counts: OTHER,
      },
      {
        says: 'past both',
        peer: OTHER,
        headers: { 'cf-connecting-ip': FORGED, 'x-forwarded-for': `${FORGED}, ${CLOUDFLARE}` },
        counts: OTHER,
      },
    ],
  },
  {
    name: 'client → Cloudflare → Traefik, which overwrites X-Forwarded-For → app',
    trust: ['cloudflare', 'traefik'],
    requests: [
      {
        says: 'only CF-Connecting-IP survives',
        peer: '172.18.0.2',
        headers: { 'cf-connecting-ip': CLIENT, 'x-forwarded-for': CLOUDFLARE, 'x-real-ip': CLOUDFLARE },
        counts: CLIENT,
      },
      {
        says: 'forged at Traefik',
        peer: '172.18.0.2',
        headers: { 'cf-connecting-ip': FORGED, 'x-forwarded-for': OTHER, 'x-real-ip': OTHER },
        counts: OTHER,
      },
    ],
  },
  {
    name: 'client → Fastly → app',
    trust: 'fastly',
    requests: [
      {
        says: 'Fastly-Client-IP, which a client can send, is not evidence',
        peer: '151.101.2.1',
        headers: { 'fastly-client-ip': FORGED, 'x-forwarded-for': `${FORGED}, ${CLIENT}` },
        counts: CLIENT,
      },
      {
        says: 'shielding: two nodes append',
        peer: '151.101.2.1',
        headers: { 'x-forwarded-for': `${FORGED}, ${CLIENT}, 199.232.8.8` },
        counts: CLIENT,
      },
      { says: 'past Fastly', peer: OTHER, headers: { 'x-forwarded-for': FORGED }, counts: OTHER },
    ],
  },
  {
    name: 'client → Fly → app',
    trust: 'fly',
    requests: [
      {
        says: 'the address of the edge is appended',
        peer: '172.16.4.2',
        headers: { 'fly-client-ip': CLIENT, 'x-forwarded-for': `${FORGED}, ${CLIENT}, 66.241.124.1` },
        counts: CLIENT,
      },
      { says: 'past Fly', peer: OTHER, headers: { 'fly-client-ip': FORGED }, counts: OTHER },
    ],
  },
  {
    name: 'client → Vercel → function',
    trust: 'vercel',
    requests: [
      { says: 'Node.js', peer: '127.0.0.1', headers: { 'x-vercel-forwarded-for': CLIENT }, counts: CLIENT },
      { says: 'no known peer', peer: undefined, headers: { 'x-vercel-forwarded-for': CLIENT }, counts: CLIENT },
      {
        says: 'only the header that no client can send is read',
        peer: '127.0.0.1',
        headers: { 'x-vercel-forwarded-for': CLIENT, 'x-forwarded-for': FORGED, 'x-real-ip': FORGED },
        counts: CLIENT,
      },
      { says: 'elsewhere', peer: OTHER, headers: { 'x-vercel-forwarded-for': FORGED }, counts: OTHER },
    ],
  },
  {
    name: 'client → AWS load balancer → app',
    trust: 'aws-alb',
    requests: [
      { says: 'appends', peer: ALB, headers: { 'x-forwarded-for': `${FORGED}, ${CLIENT}` }, counts: CLIENT },
      {
        says: 'with a client port',
        peer: ALB,
        headers: { 'x-forwarded-for': `${CLIENT}:41414` },
        counts: `${CLIENT}:41414`,
      },
      {
        says: 'IPv6 with a client port',
        peer: ALB,
        headers: { 'x-forwarded-for': '[2001:db8:5::1]:41414' },
        counts: '[2001:db8:5::1]:41414',
      },
      { says: 'a health check has no header', peer: ALB, counts: ALB },
    ],
  },
  {
    name: 'client → CloudFront → AWS load balancer → app',
    trust: ['aws-cloudfront', 'aws-alb'],
    requests: [
      {
        says: 'each appends',
        peer: ALB,
        headers: { 'x-forwarded-for': `${FORGED}, ${CLIENT}, ${CLOUDFRONT}` },
        counts: CLIENT,
      },
      {
        says: 'past CloudFront',
        peer: ALB,
        headers: { 'x-forwarded-for': `${FORGED}, ${OTHER}` },
        counts: OTHER,
      },
      {
        says: 'the header is folded over two lines',
        peer: ALB,
        headers: { 'x-forwarded-for': `${FORGED}, ${CLIENT},  ${CLOUDFRONT}` },
        counts: CLIENT,
      },
    ],
  },
  {
    name: 'client → CloudFront → AWS load balancer → ingress → app',
    trust: ['aws-cloudfront', 'aws-alb', 'k8s-ingress'],
    requests: [
      {
        says: 'two private hops',
        peer: POD,
        headers: { 'x-forwarded-for': `${FORGED}, ${CLIENT}, ${CLOUDFRONT}, ${ALB}` },
        counts: CLIENT,
      },
      {
        says: 'a third private address is not a proxy',
        peer: POD,
        headers: { 'x-forwarded-for': `${FORGED}, 10.0.9.9, ${ALB}` },
        counts: '10.0.9.9',
      },
    ],
  },
  {
    name: 'client → Google load balancer → app',
    trust: 'gcp-lb',
    requests: [
      {
        says: 'appends the client and itself',
        peer: '35.191.4.4',
        headers: { 'x-forwarded-for': `${FORGED}, ${CLIENT}, 34.120.8.8` },
        counts: CLIENT,
      },
      {
        says: 'IPv6',
        peer: '2600:2d00:1:1::9',
        headers: { 'x-forwarded-for': '2001:db8:5::1,2600:1901:0:7::' },
        counts: '2001:db8:5::1',
      },
      { says: 'one value only', peer: '130.211.1.1', headers: { 'x-forwarded-for': FORGED }, counts: '130.211.1.1' },
    ],
  },
  {
    name: 'client → Azure Front Door → app',
    trust: 'azure-front-door',
    requests: [
      {
        says: 'a client can choose X-Azure-ClientIP, but not X-Azure-SocketIP',
        peer: '147.243.7.7',
        headers: { 'x-azure-clientip': FORGED, 'x-azure-socketip': CLIENT, 'x-forwarded-for': `${FORGED}, ${CLIENT}` },
        counts: CLIENT,
      },
      { says: 'past Front Door', peer: OTHER, headers: { 'x-azure-socketip': FORGED }, counts: OTHER },
    ],
  },
  {
    name: 'client → nginx → app',
    trust: 'nginx',
    requests: [
      { says: 'appends', peer: '::1', headers: { 'x-forwarded-for': `${FORGED}, ${CLIENT}` }, counts: CLIENT },
      {
        says: 'Docker shows all clients as its gateway',
        peer: '172.18.0.3',
        headers: { 'x-forwarded-for': `${FORGED}, 172.18.0.1` },
        counts: '172.18.0.1',
      },
      { says: 'unknown', peer: '127.0.0.1', headers: { 'x-forwarded-for': 'unknown' }, counts: '127.0.0.1' },
      { says: 'an empty value', peer: '127.0.0.1', headers: { 'x-forwarded-for': `${FORGED},` }, counts: '127.0.0.1' },
      {
        says: 'an obfuscated value',
        peer: '127.0.0.1',
        headers: { 'x-forwarded-for': '_hidden' },
        counts: '127.0.0.1',
      },
      {
        says: 'an octal spelling',
        peer: '127.0.0.1',
        headers: { 'x-forwarded-for': '0306.063.0144.07' },
        counts: '127.0.0.1',
      },
    ],
  },
  {
    name: 'client → ingress with public pod addresses → app',
    trust: { preset: 'k8s-ingress', ranges: ['2001:db8:77::/64', '192.0.2.0/28'] },
    requests: [
      { says: 'IPv6', peer: '2001:db8:77::3', headers: { 'x-forwarded-for': CLIENT }, counts: CLIENT },
      { says: 'IPv4', peer: '192.0.2.4', headers: { 'x-forwarded-for': CLIENT }, counts: CLIENT },
      {
        says: 'the addresses of the preset no longer count',
        peer: POD,
        headers: { 'x-forwarded-for': FORGED },
        counts: POD,
      },
    ],
  },
  {
    name: 'client → two own proxies with their own header → app',
    trust: { ranges: ['10.9.0.0/24'], header: 'X-Client-Address', hops: 2 },
    requests: [
      {
        says: 'both append',
        peer: '10.9.0.1',
        headers: { 'x-client-address': `${FORGED}, ${CLIENT}, 10.9.0.2` },
        counts: CLIENT,
      },
      {
        says: 'one of them',
        peer: '10.9.0.1',
        headers: { 'x-client-address': `${FORGED}, ${CLIENT}` },
        counts: CLIENT,
      },
      {
        says: 'a neighbour of the proxies',
        peer: '10.9.1.1',
        headers: { 'x-client-address': FORGED },
        counts: '10.9.1.1',
      },
    ],
  },
  {
    name: 'client → cloudflared → app, on one machine',
    trust: { preset: 'cloudflare', ranges: ['127.0.0.1', '::1'] },
    requests: [
      {
        says: 'the tunnel sends the header of the edge',
        peer: '::ffff:127.0.0.1',
        headers: { 'cf-connecting-ip': CLIENT, 'x-forwarded-for': CLIENT },
        counts: CLIENT,
      },
      { says: 'past the tunnel', peer: OTHER, headers: { 'cf-connecting-ip': FORGED }, counts: OTHER },
    ],
  },
  {
    name: 'client → Render, which is behind Cloudflare → app',
    trust: ['cloudflare', 'render'],
    requests: [
      {
        says: 'one node',
        peer: '10.21.157.68',
        headers: { 'cf-connecting-ip': CLIENT, 'x-forwarded-for': `${FORGED}, ${CLIENT}, ${CLOUDFLARE}` },
        counts: CLIENT,
      },
      {
        says: 'two nodes',
        peer: '10.21.157.68',
        headers: { 'cf-connecting-ip': CLIENT, 'x-forwarded-for': `${CLIENT}, ${CLOUDFLARE}, 10.21.4.4` },
        counts: CLIENT,
      },
    ],
  },
  {
    name: 'client → Railway → app',
    trust: 'railway',
    requests: [
      {
        says: 'X-Forwarded-For ends with a node',
        peer: '100.64.0.7',
        headers: { 'x-real-ip': CLIENT, 'x-forwarded-for': `${CLIENT}, 152.233.33.161` },
        counts: CLIENT,
      },
    ],
  },
  {
    name: 'client → Heroku → app',
    trust: 'heroku',
    requests: [
      { says: 'appends', peer: '10.1.45.23', headers: { 'x-forwarded-for': `${FORGED}, ${CLIENT}` }, counts: CLIENT },
    ],
  },
  {
    name: 'client → Cloud Run → app',
    trust: 'cloud-run',
    requests: [
      { says: 'appends', peer: '169.254.1.1', headers: { 'x-forwarded-for': `${FORGED}, ${CLIENT}` }, counts: CLIENT },
    ],
  },
  {
    name: 'client → Azure Application Gateway → app',
    trust: 'azure-app-gateway',
    requests: [
      {
        says: 'appends the address with its port',
        peer: '10.9.0.4',
        headers: { 'x-forwarded-for': `${FORGED}, ${CLIENT}:52011` },
        counts: `${CLIENT}:52011`,
      },
    ],
  },
  {
    name: 'client → ingress with externalTrafficPolicy: Local → app',
    trust: 'k8s-ingress',
    requests: [
      { says: 'the client', peer: POD, headers: { 'x-forwarded-for': CLIENT }, counts: CLIENT },
      {
        says: 'externalTrafficPolicy: Cluster shows the node',
        peer: POD,
        headers: { 'x-forwarded-for': '10.42.0.1' },
        counts: '10.42.0.1',
      },
    ],
  },
  {
    name: 'client → Fastly → Cloudflare → app',
    trust: ['fastly', 'cloudflare'],
    requests: [
      {
        says: 'Cloudflare has a header of its own and appends, too',
        peer: CLOUDFLARE,
        headers: { 'cf-connecting-ip': '151.101.2.1', 'x-forwarded-for': `${FORGED}, ${CLIENT}, 151.101.2.1` },
        counts: CLIENT,
      },
    ],
  },
  {
    name: 'client → proxy with Forwarded → app',
    trust: { ranges: ['10.9.0.0/24'], header: 'Forwarded' },
    requests: [
      { says: 'IPv4', peer: '10.9.0.1', headers: { forwarded: `for=${FORGED}, for=${CLIENT}` }, counts: CLIENT },
      {
        says: 'a port',
        peer: '10.9.0.1',
        headers: { forwarded: `proto=https;For="${CLIENT}:4711"` },
        counts: `${CLIENT}:4711`,
      },
      {
        says: 'IPv6 in quotes',
        peer: '10.9.0.1',
        headers: { forwarded: 'for="[2001:db8:5::1]:4711";by=_edge' },
        counts: '[2001:db8:5::1]:4711',
      },
      {
        says: 'a hidden port',
        peer: '10.9.0.1',
        headers: { forwarded: 'for="[2001:db8:5::1]:_b7"' },
        counts: '[2001:db8:5::1]',
      },
      { says: 'unknown', peer: '10.9.0.1', headers: { forwarded: 'for=unknown' }, counts: '10.9.0.1' },
      { says: 'a hidden address', peer: '10.9.0.1', headers: { forwarded: 'for=_hidden' }, counts: '10.9.0.1' },
      {
        says: 'two addresses in one element',
        peer: '10.9.0.1',
        headers: { forwarded: `for=${CLIENT};for=${FORGED}` },
        counts: '10.9.0.1',
      },
      {
        says: 'a comma and a quote in another parameter',
        peer: '10.9.0.1',
        headers: { forwarded: `for=${CLIENT};host="a,for=${FORGED},\\",for=${FORGED};x=\\""` },
        counts: CLIENT,
      },
      {
        says: 'a quote that the client left open',
        peer: '10.9.0.1',
        headers: { forwarded: `for="${FORGED}, for=${CLIENT}` },
        counts: CLIENT,
      },
    ],
  },
  {
    name: 'client → proxy whose range is written as mapped IPv6 → app',
    trust: [
      { ranges: ['::ffff:10.9.0.1'], header: 'x-forwarded-for' },
      { ranges: ['::ffff:192.0.2.0/120'], header: 'x-forwarded-for' },
    ],
    requests: [
      {
        says: 'IPv4 and mapped peers',
        peer: '::ffff:10.9.0.1',
        headers: { 'x-forwarded-for': `${CLIENT}, 192.0.2.7` },
        counts: CLIENT,
      },
      { says: 'another address', peer: '10.9.0.2', headers: { 'x-forwarded-for': FORGED }, counts: '10.9.0.2' },
    ],
  },
  {
    name: 'client → nginx on another address of a part of a range → app',
    trust: ['nginx', 'cloud-run'],
    requests: [
      {
        says: 'the smaller range is used first, in any order of the list',
        peer: '169.254.1.1',
        headers: { 'x-forwarded-for': `${CLIENT}, 127.0.0.1` },
        counts: CLIENT,
      },
    ],
  },
]
