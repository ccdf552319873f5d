import assert from 'node:assert/strict'
import { byHeader } from '@sluice/limiter-core'
import type { TestRunner } from '../suite-runner.ts'
import { cap, type RateOptions, rate, slow } from './stage/app-description.ts'
import type { Asked, Pending } from './stage/client.ts'
import { Gate, type Stage, statuses } from './stage/stage.ts'
import { until } from './stage/until.ts'
import { Watcher } from './stage/watcher.ts'

/** A preflight as browsers send it. */
export const PREFLIGHT = {
  method: 'OPTIONS',
  headers: { origin: 'https://shop.example', 'access-control-request-method': 'POST' },
}

/** Requests that look like CORS preflights, which any client can send to any handler. */
export function preflights({ describe, test }: TestRunner, stage: Stage): void {
  describe('CORS preflights', () => {
    test('have a separate count for each policy, with the same limit', () => counted(stage))
    test('pass when requests are denied, so that a page can read the reason', () => readable(stage))
    test('that are denied receive a time to retry', () => denied(stage))
    test('without the data for the key are counted by address', () => nameless(stage))
    test('are reported to observers under a separate key', () => observed(stage))
    test('have separate permits for each cap, equally many', () => capped(stage))
    test('are delayed by a separate count', () => slowed(stage))
    test('pass if they are skipped', () => skipped(stage))
    test('are OPTIONS requests with all preflight headers; others are ordinary requests', () => halves(stage))
  })
}

function limit(stage: Stage, options: Partial<RateOptions> = {}) {
  return rate({ limit: 2, window: '1m', algorithm: 'fixed-window', clock: stage.clock, ...options } as RateOptions)
}

async function counted(stage: Stage): Promise<void> {
  const policies = [
    { name: 'burst', limit: 2, window: '1m', algorithm: 'fixed-window' },
    { name: 'daily', limit: 3, window: '1d', algorithm: 'fixed-window' },
  ] as const
  const site = await stage.behind([rate({ policies, clock: stage.clock })])
  assert.deepEqual(await statuses(site, 3, PREFLIGHT), [200, 200, 429])
  assert.deepEqual(await statuses(site, 3), [200, 200, 429])
  stage.clock.advance(60_000)
  assert.deepEqual(await statuses(site, 2, PREFLIGHT), [200, 429])
  assert.deepEqual(await statuses(site, 2), [200, 429])
}

async function readable(stage: Stage): Promise<void> {
  const site = await stage.behind([limit(stage)])
  assert.deepEqual(await statuses(site, 3), [200, 200, 429])
  const { status, headers } = await site.ask(PREFLIGHT)
  assert.deepEqual([status, headers.ratelimit], [200, '"default";r=1;t=60'])
}

async function denied(stage: Stage): Promise<void> {
  const site = await stage.behind([limit(stage)])
  await statuses(site, 2, PREFLIGHT)
  const { status, headers, body } = await site.ask(PREFLIGHT)
  assert.deepEqual([status, headers['retry-after'], headers.ratelimit], [429, '60', '"default";r=0;t=60'])
  assert.equal(headers['access-control-expose-headers'], 'RateLimit, RateLimit-Policy, Retry-After')
  assert.deepEqual(JSON.parse(body)['violated-policies'], ['default'])
}

async function nameless(stage: Stage): Promise<void> {
  const watcher = new Watcher()
  const named = limit(stage, { key: byHeader('x-user', { missing: 'deny' }), observers: [watcher] })
  const own = limit(stage, { name: 'own', key: (req) => req.header('x-user'), observers: [watcher] })
  const site = await stage.behind([named, own])
  assert.deepEqual(await statuses(site, 3, PREFLIGHT), [200, 200, 429])
  assert.equal((await site.ask({ headers: { 'x-user': 'ann' } })).status, 200)
  // a missing principal is not an error of the application
  assert.deepEqual([watcher.count('keyFallback'), stage.warnings.codes], [0, []])
  assert.equal((await site.ask()).status, 429)
}

async function observed(stage: Stage): Promise<void> {
  const keys: string[] = []
  const observer = {
    decided: (key: string) => void keys.push(key),
    permitAcquired: (key: string) => void keys.push(key),
  }
  const places = cap({ limit: 1, key: byHeader('x-user'), observers: [observer] })
  const site = await stage.behind([limit(stage, { key: byHeader('x-user'), observers: [observer] }), places])
  await site.ask({ headers: { 'x-user': 'ann' } })
  await site.ask({ ...PREFLIGHT, headers: { ...PREFLIGHT.headers, 'x-user': 'ann' } })
  assert.deepEqual(keys, ['ann', 'ann', '\0preflight:ann', '\0preflight:ann'])
}

async function capped(stage: Stage): Promise<void> {
  for (const key of [undefined, byHeader('x-user')]) {
    const watcher = new Watcher()
    const gate = new Gate()
    const site = await stage.behind([cap({ limit: 2, key, observers: [watcher] })], gate.handler)
    const ann = { 'x-user': 'ann' }
    const asked: Asked[] = [{ headers: ann }, { ...PREFLIGHT, headers: { ...PREFLIGHT.headers, ...ann } }]
    const held: Pending[] = [...asked, ...asked].map((one) => site.start(one))
    await until(() => gate.entered === 4)
    for (const one of asked) assert.equal((await site.ask(one)).status, 503)
    assert.deepEqual([gate.entered, watcher.held], [4, 4])
    gate.open()
    for (const { answer } of held) assert.equal((await answer).status, 200)
    await until(() => watcher.held === 0)
    for (const one of asked) assert.equal((await site.ask(one)).status, 200)
  }
}

async function slowed(stage: Stage): Promise<void> {
  const curve = { after: 1, window: '1h', delayMs: 300, maxDelayMs: 300, clock: stage.clock } as const
  const site = await stage.behind([slow(curve)])
  assert.deepEqual([(await site.ask()).status, (await site.ask(PREFLIGHT)).status], [200, 200])
  const { answer } = site.start(PREFLIGHT)
  await until(() => stage.clock.pending === 1)
  stage.clock.advance(300)
  assert.equal((await answer).status, 200)
}

async function skipped(stage: Stage): Promise<void> {
  const skip = (req: { readonly method: string }): boolean => req.method === 'OPTIONS'
  const site = await stage.behind([limit(stage, { skip }), cap({ limit: 1, skip })])
  assert.deepEqual(await statuses(site, 3, PREFLIGHT), [200, 200, 200])
  assert.equal('ratelimit' in (await site.ask(PREFLIGHT)).headers, false)
}

async function halves(stage: Stage): Promise<void> {
  const { origin, ...method } = PREFLIGHT.headers
  const half: Asked[] = [
    { method: 'OPTIONS' },
    { method: 'OPTIONS', headers: { origin } },
    { method: 'OPTIONS', headers: method },
    { ...PREFLIGHT, method: 'POST' },
  ]
  for (const asked of half) {
    const site = await stage.behind([limit(stage)])
    assert.equal((await site.ask()).status, 200)
    assert.deepEqual(await statuses(site, 2, asked), [200, 429], JSON.stringify(asked))
  }
}
