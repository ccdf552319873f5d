import assert from 'node:assert/strict'
import { describe, test } from '@jest/globals'
import { type ClientSource, CollapseDetector } from '@sluice/http'
import type { CollapsedClients } from '@sluice/limiter-core/http'
import { seededRandom } from '@sluice/testkit'

interface Sent {
  readonly counted: string
  readonly peer?: string
  readonly agent?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Returns the first collapse, and the number of requests until then. */
function detect(requests: Iterable<Sent>): { readonly collapse: CollapsedClients | undefined; readonly after: number } {
  let collapse: CollapsedClients | undefined
  const detector = new CollapseDetector({
    collapsed(found) {
      assert.equal(collapse, undefined, 'found twice')
      collapse = found
    },
    unproven: (found) => assert.fail(JSON.stringify(found)),
  })
  let after = 0
  for (const { counted, peer = counted, agent, headers = {} } of requests) {
    after++
    const all: Readonly<Record<string, string | undefined>> = { ...headers, 'user-agent': agent }
    const source: ClientSource = { ip: counted, peer, headerText: (name) => all[name] }
    detector.see(counted, source)
    if (collapse) break
  }
  return { collapse, after }
}

function* times(count: number, request: (index: number) => Sent): Generator<Sent> {
  for (let index = 0; index < count; index++) yield request(index)
}

const agentOf = (index: number): string => `Mozilla/5.0 (X11; Linux x86_64) Browser/${index}.0`
const publicAddress = (index: number): string => `198.51.${index >> 8}.${index & 255}`

describe('many clients behind one address', () => {
  test('are noticed by their forwarded addresses', () => {
    const { collapse, after } = detect(
      times(1_000, (index) => ({
        counted: '10.0.0.3',
        agent: 'App/1',
        headers: { 'x-forwarded-for': publicAddress(index) },
      })),
    )
    assert.equal(collapse?.address, '10.0.0.3')
    assert.match(collapse.reason, /about \d+ forwarded addresses/)
    assert.equal(collapse.trust, "'nginx'")
    assert.ok(after < 100, `after ${after}`)
  })

  test('are noticed by their user agents, if the proxy forwards no address', () => {
    const random = seededRandom(30)
    const { collapse, after } = detect(
      times(1_000, () => ({ counted: '203.0.113.5', agent: agentOf(Math.floor(random.next() * 200)) })),
    )
    assert.match(collapse?.reason ?? '', /user agents/)
    assert.equal(collapse?.trust, undefined)
    assert.match(collapse?.advice ?? '', /if it is your proxy, make it send X-Forwarded-For/)
    assert.ok(after < 200, `after ${after}`)
  })

  test('are noticed behind eight replicas of a proxy, and beside direct clients', () => {
    const random = seededRandom(31)
    const { collapse, after } = detect(
      times(1_000, (index) => {
        if (index % 3 === 0) return { counted: publicAddress(index), agent: agentOf(index) }
        const counted = `10.0.0.${1 + Math.floor(random.next() * 8)}`
        return {
          counted,
          agent: 'App/1',
          headers: { 'x-forwarded-for': publicAddress(Math.floor(random.next() * 5_000)) },
        }
      }),
    )
    assert.match(collapse?.address ?? '', /^10\.0\.0\.\d$/)
    assert.ok(after < 1_000, `after ${after}`)
  })

  test('are noticed although thousands of direct clients came before', () => {
    const direct = times(5_000, (index) => ({ counted: `203.0.${index >> 8}.${index & 255}`, agent: agentOf(index) }))
    assert.equal(detect(direct).collapse, undefined)
    const both = function* (): Generator<Sent> {
      yield* times(5_000, (index) => ({ counted: `203.0.${index >> 8}.${index & 255}`, agent: agentOf(index) }))
      yield* times(2_048, (index) => ({ counted: '10.0.0.3', headers: { 'x-forwarded-for': publicAddress(index) } }))
    }
    const { collapse, after } = detect(both())
    assert.equal(collapse?.address, '10.0.0.3')
    assert.ok(after - 5_000 < 1_000, `after ${after - 5_000}`)
  })

  test('are noticed if one hop too few is trusted', () => {
    const { collapse } = detect(
      times(1_000, (index) => ({
        counted: '10.0.0.3',
        peer: '10.0.0.2',
        headers: { 'x-forwarded-for': `${publicAddress(index)}, 10.0.0.3` },
      })),
    )
    assert.equal(collapse?.address, '10.0.0.3')
    assert.equal(collapse.trust, "['nginx', { preset: 'nginx', ranges: ['10.0.0.3'] }]")
  })

  test.each([
    ['172.68.1.2', { 'cf-connecting-ip': '198.51.100.7', 'cf-ray': 'x' }, 'cloudflare'],
    ['2606:4700:10::1', { 'cf-connecting-ip': '198.51.100.7' }, 'cloudflare'],
    ['151.101.1.1', { 'x-forwarded-for': '198.51.100.7' }, 'fastly'],
    ['130.176.88.1', { 'x-forwarded-for': '198.51.100.7' }, 'aws-cloudfront'],
    ['147.243.1.1', { 'x-azure-socketip': '198.51.100.7' }, 'azure-front-door'],
    ['35.191.1.1', { 'x-forwarded-for': '198.51.100.7, 34.120.8.8' }, 'gcp-lb'],
  ])('are noticed at once at the published address %s', (counted, headers, preset) => {
    const { collapse, after } = detect(times(3, () => ({ counted, headers: headers as never })))
    assert.deepEqual([collapse?.trust, collapse?.reason, after], [`'${preset}'`, `it belongs to ${preset}`, 1])
  })

  test.each([
    [{ 'x-amzn-trace-id': 'Root=1' }, '10.0.0.9', "'aws-alb'"],
    [{ 'x-amzn-trace-id': 'Root=1' }, '2001:db8::9', "{ preset: 'aws-alb', ranges: ['2001:db8::9'] }"],
    [{ 'x-forwarded-server': 'a' }, '172.18.0.2', "'traefik'"],
    [{}, '10.0.0.9', "'nginx'"],
  ])('name the preset by the headers %j at %s', (signs, counted, trust) => {
    const { collapse } = detect(
      times(100, (index) => ({ counted, headers: { ...(signs as object), 'x-forwarded-for': publicAddress(index) } })),
    )
    assert.equal(collapse?.trust, trust)
  })

  test('name Fly, whose header has the clients', () => {
    const { collapse } = detect(
      times(100, (index) => ({
        counted: '172.16.0.2',
        headers: { 'fly-client-ip': publicAddress(index), 'x-forwarded-for': `${publicAddress(index)}, 66.241.124.1` },
      })),
    )
    assert.equal(collapse?.trust, "'fly'")
  })
})

describe('no collapse is seen in', () => {
  test('the log of a public site', () => {
    const random = seededRandom(33)
    // 1,700 clients, of which the first are crawlers with several user agents
    const log = times(50_000, () => {
      const client = Math.floor(1_700 ** random.next())
      return { counted: publicAddress(client), agent: agentOf(client * 8 + Math.floor(random.next() * 8)) }
    })
    assert.equal(detect(log).collapse, undefined)
  })

  test('a load generator', () => {
    assert.equal(detect(times(50_000, () => ({ counted: '127.0.0.1', agent: 'autocannon/8' }))).collapse, undefined)
    assert.equal(detect(times(50_000, () => ({ counted: '127.0.0.1' }))).collapse, undefined)
  })

  test('a load generator that sends one invented address', () => {
    const headers = { 'x-forwarded-for': '198.51.100.7' }
    assert.equal(detect(times(50_000, () => ({ counted: '127.0.0.1', headers }))).collapse, undefined)
  })

  test('an office with 19 user agents', () => {
    const office = times(50_000, (index) => ({ counted: '203.0.113.5', agent: agentOf(index % 19) }))
    assert.equal(detect(office).collapse, undefined)
  })

  test('an office behind its own forward proxy, which sends private addresses', () => {
    const office = times(50_000, (index) => ({
      counted: '203.0.113.5',
      agent: agentOf(index % 19),
      headers: { 'x-forwarded-for': `192.168.1.${index % 200}` },
    }))
    assert.equal(detect(office).collapse, undefined)
  })

  test('a mobile network with a tenth of the requests', () => {
    const random = seededRandom(32)
    const requests = times(50_000, (index) =>
      index % 10 === 0
        ? { counted: '203.0.113.5', agent: agentOf(Math.floor(random.next() * 500)) }
        : { counted: publicAddress(Math.floor(random.next() * 60_000)), agent: agentOf(index) },
    )
    assert.equal(detect(requests).collapse, undefined)
  })

  test('a trusted proxy, whose clients are counted', () => {
    const requests = times(20_000, (index) => ({
      counted: publicAddress(index % 4_000),
      agent: agentOf(index),
      headers: { 'x-forwarded-for': publicAddress(index % 4_000), 'cf-connecting-ip': publicAddress(index % 4_000) },
    }))
    assert.equal(detect(requests).collapse, undefined)
  })

  test('a program that runs at a provider and forwards nothing', () => {
    assert.equal(detect(times(1_000, () => ({ counted: '172.68.1.2', agent: 'Worker' }))).collapse, undefined)
  })
})
