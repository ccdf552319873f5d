import assert from 'node:assert/strict'
import type { ProxyTrustOption } from '@sluice/http'
import { byIp } from '@sluice/limiter-core'
import type { TestRunner } from '../suite-runner.ts'
import { unitsLeft } from './exemptions.ts'
import { cap, type HookRequest, rate } from './stage/app-description.ts'
import { ok, type Site, type Stage } from './stage/stage.ts'

const MINUTE = { window: '1m', algorithm: 'fixed-window' } as const
/** Addresses of the client of the tests, as a server may see them. */
const HERE = ['127.0.0.0/8', '::1']
const APPENDS = { ranges: HERE, header: 'x-forwarded-for' }
const CLIENT = '198.51.100.7'

/** The option `trust`: the test's client plays a proxy. */
export function trustedProxies({ describe, test }: TestRunner, stage: Stage): void {
  describe('with trusted proxies', () => {
    test('each client that a proxy names has its own limit', () => named(stage))
    test('values that a client wrote before the address of the proxy change nothing', () => forged(stage))
    test('the peer counts if the header names no address, or the peer is not a proxy', () => unproven(stage))
    test('a cap counts per client', () => capped(stage))
  })
}

function site(stage: Stage, trust: ProxyTrustOption): Promise<Site> {
  return stage.behind([rate({ name: 'p', limit: 2, ...MINUTE, clock: stage.clock, trust })])
}

function via(address: string): { readonly headers: Record<string, string> } {
  return { headers: { 'x-forwarded-for': address } }
}

async function named(stage: Stage): Promise<void> {
  const one = await site(stage, APPENDS)
  assert.equal(await unitsLeft(one, via(CLIENT)), '200, p 1')
  assert.equal(await unitsLeft(one, via('203.0.113.9')), '200, p 1')
  // other spellings of the same client
  assert.equal(await unitsLeft(one, via(`::ffff:${CLIENT}`)), '200, p 0')
  assert.equal(await unitsLeft(one, via(`${CLIENT}:4711`)), '429, p 0')
  assert.equal(await unitsLeft(one, via('2001:db8:1:2::7')), '200, p 1')
  assert.equal(await unitsLeft(one, via('[2001:db8:1:3::8]:443')), '200, p 0')
}

async function forged(stage: Stage): Promise<void> {
  const one = await site(stage, APPENDS)
  assert.equal(await unitsLeft(one, via(`203.0.113.1, ${CLIENT}`)), '200, p 1')
  assert.equal(await unitsLeft(one, via(`203.0.113.2,,junk, ${CLIENT}`)), '200, p 0')
  assert.equal(await unitsLeft(one, via(`127.0.0.1, ${CLIENT}`)), '429, p 0')
  // the second proxy is not trusted, although it is at a trusted address
  assert.equal(await unitsLeft(one, via('203.0.113.3, 127.0.0.1')), '200, p 1')
  assert.equal(await unitsLeft(one, via('203.0.113.4, 127.0.0.1')), '200, p 0')
  const two = await site(stage, [{ ...APPENDS, hops: 2 }])
  assert.equal(await unitsLeft(two, via(`${CLIENT}, 127.0.0.1`)), '200, p 1')
  assert.equal(await unitsLeft(two, via(CLIENT)), '200, p 0')
}

async function unproven(stage: Stage): Promise<void> {
  const one = await site(stage, { ranges: HERE, header: 'x-client' })
  assert.equal(await unitsLeft(one), '200, p 1')
  assert.equal(await unitsLeft(one, { headers: { 'x-client': 'unknown' } }), '200, p 0')
  assert.equal(await unitsLeft(one, via(CLIENT)), '429, p 0')
  const other = await site(stage, 'cloudflare')
  assert.equal(await unitsLeft(other, { headers: { 'cf-connecting-ip': CLIENT } }), '200, p 1')
  assert.equal(await unitsLeft(other, { headers: { 'cf-connecting-ip': '203.0.113.9' } }), '200, p 0')
}

async function capped(stage: Stage): Promise<void> {
  let finish = (): void => {}
  const finished = new Promise<void>((resolve) => {
    finish = resolve
  })
  let entered = (): void => {}
  const running = new Promise<void>((resolve) => {
    entered = resolve
  })
  const limits = [cap({ limit: 1, key: byIp<HookRequest>(), trust: APPENDS })]
  const one = await stage.behind(limits, async ({ request }) => {
    if (request.header('x-slow') === undefined) return ok()
    entered()
    await finished
    return ok()
  })
  const slow = one.ask({ headers: { ...via(CLIENT).headers, 'x-slow': 'yes' } })
  await running
  assert.equal((await one.ask(via(CLIENT))).status, 503)
  assert.equal((await one.ask(via('203.0.113.9'))).status, 200)
  finish()
  assert.equal((await slow).status, 200)
}
