import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { explainClient, rateLimit } from '@sluice/express'
import { rateLimit as fetchLimit } from '@sluice/fetch'
import {
  type ClientSource,
  CollapseDetector,
  collapseDetector,
  explainSource,
  type ProxyTrustOption,
  type UnprovenProxy,
} from '@sluice/http'
import { type CollapsedClients, collapsedClients, recordCollapsedClients } from '@sluice/limiter-core/http'
import { FakeClock, Warnings } from '@sluice/testkit'
import express from 'express'
import { TrustedProxies } from '../../../packages/http/src/client/trusted-proxies.ts'
import { adviceOf } from '../../client-address/advice-of.ts'

const warnings = new Warnings()

beforeEach(() => {
  collapseDetector.reset()
  recordCollapsedClients(undefined)
  warnings.listen()
})
afterEach(() => warnings.stop())

const AGENT = 'user-agent'
const ROUNDS = 70

/** Returns the distinct keys of 20 clients of a tunnel, on a server that listens on `::`. */
async function keysBehindTunnel(trust: ProxyTrustOption): Promise<number> {
  const app = express()
  app.get('/whoami', (req, res) => {
    res.json(explainClient(req, { trust }).key)
  })
  app.use(rateLimit({ limit: 1_000, window: '1m', trust }))
  app.get('/', (_req, res) => {
    res.send('ok')
  })
  const server = http.createServer(app).listen(0)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const ask = async (client: number, path: string): Promise<string> => {
    const address = `81.2.3.${client}`
    const headers = { 'cf-connecting-ip': address, 'x-forwarded-for': address, 'cf-ray': 'x' }
    return (await fetch(`http://127.0.0.1:${port}${path}`, { headers })).text()
  }
  for (let client = 1; client <= 60; client++) await ask(client, '/')
  const keys = new Set<string>()
  for (let client = 1; client <= 20; client++) keys.add(await ask(client, '/whoami'))
  server.close()
  server.closeAllConnections()
  return keys.size
}

describe('the advice of SLUICE_CLIENTS_COLLAPSED', () => {
  test('works on a server that reports mapped addresses', async () => {
    expect(await keysBehindTunnel('cloudflare')).toBe(1)
    const [, advice = ''] = /set trust: (.*?) \(https/.exec(warnings.texts[0]) ?? []
    expect(advice).toContain("{ preset: 'cloudflare', ranges: ['127.0.0.1'] }")
    expect(await keysBehindTunnel(adviceOf(advice))).toBe(20)
    expect(warnings.codes).toEqual(['SLUICE_CLIENTS_COLLAPSED'])
  })

  test('is not a value that lets clients choose their address behind a gateway', async () => {
    const handle = fetchLimit({ limit: 3, window: '10m', trust: 'nginx' }).wrap(() => new Response('ok'))
    for (let index = 0; index < 60; index++) {
      const headers = { 'x-forwarded-for': '172.18.0.1', [AGENT]: `agent ${index}` }
      await handle(new Request('http://x/', { headers }), { ip: '172.18.0.2' })
    }
    expect(warnings.codes).toEqual(['SLUICE_CLIENTS_COLLAPSED'])
    expect(warnings.texts[0]).not.toContain('set trust')
    expect(warnings.texts[0]).toContain('the address 172.18.0.1 is counted')
    expect(warnings.texts[0]).toContain('hides the clients')
    expect(collapsedClients()?.trust).toBeUndefined()
  })

  test('names the next proxy beside those that are trusted', () => {
    const found = collapse({ trust: 'nginx', headers: (client) => ({ 'x-forwarded-for': `${client}, 10.0.0.3` }) })
    expect(found?.trust).toBe("['nginx', { preset: 'nginx', ranges: ['10.0.0.3'] }]")
  })

  test('does not read a header that only some clients send', () => {
    const headers = (client: string, index: number): Record<string, string> => ({
      'x-forwarded-for': client,
      ...(index % 10 !== 0 && { 'cf-ray': 'forged', 'cf-connecting-ip': `192.0.2.${index}` }),
    })
    expect(collapse({ headers })?.trust).toBe("'nginx'")
  })

  test('is given once per hour for an address, and for each address of a proxy', () => {
    const clock = new FakeClock()
    const found: string[] = []
    const reporter = { collapsed: ({ address }: CollapsedClients) => void found.push(address), unproven: () => {} }
    const detector = new CollapseDetector(reporter, clock)
    const flood = (peer: string): void => {
      for (let index = 0; index < 4 * ROUNDS; index++)
        detector.see(peer, source(peer, { 'x-forwarded-for': `81.2.${index % 200}.7` }))
    }
    flood('6.6.6.6')
    flood('6.6.6.7')
    flood('127.0.0.1')
    flood('127.0.0.1')
    flood('10.0.0.1')
    expect(found).toEqual(['6.6.6.6', '127.0.0.1', '10.0.0.1'])
    clock.advance(3_599_000)
    flood('127.0.0.1')
    expect(found).toHaveLength(3)
    clock.advance(1_000)
    flood('127.0.0.1')
    flood('6.6.6.6')
    expect(found.slice(3)).toEqual(['127.0.0.1', '6.6.6.6'])
  })

  test('about addresses of the internet is bounded, and does not use up the warnings about own proxies', () => {
    const found: string[] = []
    const reporter = { collapsed: ({ address }: CollapsedClients) => void found.push(address), unproven: () => {} }
    const detector = new CollapseDetector(reporter, new FakeClock())
    const flood = (peer: string): void => {
      for (let index = 0; index < 4 * ROUNDS; index++)
        detector.see(peer, source(peer, { 'x-forwarded-for': `81.2.${index % 200}.7` }))
    }
    for (let range = 0; range < 20; range++) flood(`6.6.${range}.6`)
    for (let range = 0; range < 20; range++) flood(`2001:db8:${range}::6`)
    expect(found).toHaveLength(4)
    for (let host = 0; host < 30; host++) flood(`10.0.0.${host}`)
    expect(found).toHaveLength(20)
    expect(found[4]).toBe('10.0.0.0')
  })

  test('is reported on the live page for an own proxy, even if a client caused an earlier one', async () => {
    const handle = fetchLimit({ limit: 3, window: '10m' }).wrap(() => new Response('ok'))
    const send = (client: string, ip: string, agent: string) =>
      handle(new Request('http://x/', { headers: { 'x-forwarded-for': client, [AGENT]: agent } }), { ip })
    for (let index = 0; index < 60; index++) await send(`9.9.9.${index}`, '6.6.6.6', 'curl')
    for (let index = 0; index < 2_000; index++) await send(`81.2.${index % 200}.7`, '127.0.0.1', `agent ${index % 90}`)
    for (let index = 0; index < 2_000; index++) await send(`9.8.9.${index % 250}`, '6.7.6.6', 'curl')
    expect(warnings.codes).toEqual(Array(3).fill('SLUICE_CLIENTS_COLLAPSED'))
    expect(warnings.texts[1]).toContain('the address 127.0.0.1 is counted')
    expect(collapsedClients()?.address).toBe('127.0.0.1')
  })
})

describe('a trusted proxy whose header names no client', () => {
  const cases: readonly (readonly [string, ProxyTrustOption, string, Record<string, string>])[] = [
    ['nginx without the line', 'nginx', '::ffff:127.0.0.1', {}],
    [
      'an AWS load balancer in mode "remove"',
      'aws-alb',
      '10.0.3.17',
      { 'x-amzn-trace-id': 'Root=1', 'x-forwarded-proto': 'https' },
    ],
    ['Cloudflare without its header', 'cloudflare', '172.68.10.1', { 'cf-ray': 'x' }],
    ['Cloudflare behind nginx', ['cloudflare', 'nginx'], '127.0.0.1', { 'x-forwarded-for': '172.68.10.1' }],
    ['a gateway of Kubernetes', 'k8s-ingress', '10.244.0.1', {}],
    ['a gateway of Docker', 'traefik', '172.18.0.1', {}],
    [
      'a proxy with an own header',
      { ranges: ['192.0.2.1'], header: 'x-client' },
      '192.0.2.1',
      { 'x-client': 'unknown' },
    ],
    [
      'Forwarded without an address',
      { ranges: ['192.0.2.1'], header: 'forwarded' },
      '192.0.2.1',
      { forwarded: 'for=_x' },
    ],
  ]
  test.each(cases)('is named once: %s', (_name, trust, peer, headers) => {
    const found = unproven(trust, peer, headers)
    expect(found).toHaveLength(1)
    expect(found[0].proxy).toBe([trust].flat().map((one) => (typeof one === 'string' ? one : 'proxy'))[0])
  })

  test('is named with what it lacks', async () => {
    const handle = fetchLimit({ limit: 3, window: '10m', trust: 'nginx' }).wrap(() => new Response('ok'))
    for (let index = 0; index < 60; index++) await handle(new Request('http://x/'), { ip: '127.0.0.1' })
    expect(warnings.codes).toEqual(['SLUICE_PROXY_NAMES_NO_CLIENT'])
    expect(warnings.texts[0]).toContain('127.0.0.1 is a trusted proxy (nginx)')
    expect(warnings.texts[0]).toContain('proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for')
  })

  test('is not reported for health checks, or for a program that calls the application without the proxy', () => {
    expect(unproven('aws-alb', '10.0.3.17', { [AGENT]: 'ELB-HealthChecker/2.0' })).toEqual([])
    const detected: UnprovenProxy[] = []
    const reporter = { collapsed: () => {}, unproven: (found: UnprovenProxy) => void detected.push(found) }
    const detector = new CollapseDetector(reporter, new FakeClock())
    const proxies = new TrustedProxies('k8s-ingress')
    for (let index = 0; index < 1_000; index++) {
      const isDirect = index % 3 === 0
      const headers = isDirect
        ? { [AGENT]: 'billing/1' }
        : { 'x-forwarded-for': `81.2.${index % 250}.7`, [AGENT]: `agent ${index}` }
      const request = source(isDirect ? '10.0.0.9' : '10.0.0.2', headers)
      detector.see(proxies.addressOf(request) as string, request, proxies)
    }
    expect(detected).toEqual([])
  })
})

function source(peer: string, headers: Readonly<Record<string, string>>): ClientSource {
  return { ip: peer, peer, headerText: (name) => headers[name] }
}

interface Behind {
  readonly trust?: ProxyTrustOption
  readonly headers: (client: string, index: number) => Record<string, string>
}

/** Returns the collapse of 200 clients behind a proxy at 10.0.0.2. */
function collapse({ trust, headers }: Behind): CollapsedClients | undefined {
  let found: CollapsedClients | undefined
  const detector = new CollapseDetector({
    collapsed: (one) => {
      found ??= one
    },
    unproven: () => {},
  })
  const proxies = trust === undefined ? undefined : new TrustedProxies(trust)
  for (let index = 0; index < 200; index++) {
    const request = source('10.0.0.2', { ...headers(`81.2.${index}.7`, index), [AGENT]: `agent ${index}` })
    detector.see(explainSource(request, trust === undefined ? {} : { trust }).address as string, request, proxies)
  }
  return found
}

/** Returns the proxies that are reported for requests with these headers. */
function unproven(trust: ProxyTrustOption, peer: string, headers: Record<string, string>): readonly UnprovenProxy[] {
  const found: UnprovenProxy[] = []
  const reporter = { collapsed: () => {}, unproven: (one: UnprovenProxy) => void found.push(one) }
  const detector = new CollapseDetector(reporter, new FakeClock())
  const proxies = new TrustedProxies(trust)
  for (let index = 0; index < ROUNDS; index++) {
    const request = source(peer, { [AGENT]: 'Mozilla/5.0', ...headers })
    detector.see(proxies.addressOf(request) as string, request, proxies)
  }
  return found
}
