import assert from 'node:assert/strict'
import { byHeader } from '@sluice/limiter-core'
import type { TestRunner } from '../suite-runner.ts'
import { type Feature, type RateOptions, rate } from './stage/app-description.ts'
import { type Asked, own } from './stage/client.ts'
import { ok, type Site, type Stage } from './stage/stage.ts'

const ROUTES = [{ path: '/', handler: ok }]

/** Headers beyond the golden responses: other methods, origins, caches and dialects. */
export function headers({ describe, test }: TestRunner, stage: Stage, without: readonly Feature[]): void {
  describe('HEAD', () => {
    test('is denied with the headers of GET and without a body', () => head(stage))
  })
  describe('pages of other origins', () => {
    test('can read our headers', () => exposedAlone(stage))
    if (!without.includes('headers-before-limits')) {
      test('can read our headers in addition to those that the application exposes', () => exposed(stage))
    }
  })
  describe('caches', () => {
    if (!without.includes('headers-before-limits')) {
      test('never store a denial, whatever cache headers the application set', () => uncached(stage))
    }
    test('receive only the cache headers of the application for an admitted request', () => cached(stage))
  })
  describe('dialects', () => {
    test('legacy headers contain the reset in epoch seconds', () => legacyEpoch(stage))
    test('legacy headers contain the reset in relative seconds if configured', () => legacyDelta(stage))
    test('headers of draft 6 have no prefix and a reset in relative seconds', () => draft6(stage))
    test('a list of dialects writes the headers of each', () => bothDialects(stage))
    test("headersOn 'denied' writes no headers for an admitted request", () => onDenied(stage))
    test("headers 'none' keeps Retry-After and the response body", () => none(stage))
  })
}

function one(stage: Stage, options: Partial<RateOptions> = {}): RateOptions {
  return { limit: 1, window: '1m', algorithm: 'fixed-window', clock: stage.clock, ...options } as RateOptions
}

async function denied(site: Site, asked?: Asked) {
  assert.equal((await site.ask(asked)).status, 200)
  const answer = await site.ask(asked)
  assert.equal(answer.status, 429)
  return answer
}

async function head(stage: Stage): Promise<void> {
  const site = await stage.behind([rate(one(stage))])
  const get = await denied(site)
  const answer = await site.ask({ method: 'HEAD' })
  assert.equal(answer.status, 429)
  assert.equal(answer.body, '')
  assert.deepEqual(own(answer.headers), own(get.headers))
  assert.equal(answer.headers['content-length'], '143')
}

async function exposedAlone(stage: Stage): Promise<void> {
  const site = await stage.behind([rate(one(stage))])
  const asked = { headers: { origin: 'https://shop.example' } }
  const passed = await site.ask(asked)
  assert.equal(passed.headers['access-control-expose-headers'], 'RateLimit, RateLimit-Policy')
  const answer = await site.ask(asked)
  assert.equal(answer.headers['access-control-expose-headers'], 'RateLimit, RateLimit-Policy, Retry-After')
}

async function exposed(stage: Stage): Promise<void> {
  const application = { 'Access-Control-Expose-Headers': 'X-Total, ratelimit' }
  const site = await stage.serve({ headers: application, limits: [rate(one(stage))], routes: ROUTES })
  const asked = { headers: { origin: 'https://shop.example' } }
  const passed = await site.ask(asked)
  assert.equal(passed.headers['access-control-expose-headers'], 'X-Total, ratelimit, RateLimit-Policy')
  const answer = await site.ask(asked)
  assert.equal(answer.status, 429)
  assert.equal(answer.headers['access-control-expose-headers'], 'X-Total, ratelimit, RateLimit-Policy, Retry-After')
  const sameOrigin = await site.ask()
  assert.equal(sameOrigin.headers['access-control-expose-headers'], 'X-Total, ratelimit')
}

const OF_THE_ANSWER = {
  'Cache-Control': 'public, max-age=3600',
  ETag: '"v1"',
  'Last-Modified': 'Wed, 21 Oct 2026 07:28:00 GMT',
  Expires: 'Thu, 22 Oct 2026 07:28:00 GMT',
  'Content-Language': 'de',
  'Content-Disposition': 'attachment',
}

async function uncached(stage: Stage): Promise<void> {
  const application = { ...OF_THE_ANSWER, Vary: 'Origin', 'X-Trace': '7' }
  const site = await stage.serve({ headers: application, limits: [rate(one(stage))], routes: ROUTES })
  const { headers } = await denied(site)
  assert.equal(headers['cache-control'], 'no-store')
  const left = Object.keys(OF_THE_ANSWER).filter((name) => name.toLowerCase() in headers)
  assert.deepEqual(left, ['Cache-Control'])
  assert.equal(`${headers.vary} ${headers['x-trace']}`, 'Origin 7')
}

async function cached(stage: Stage): Promise<void> {
  const site = await stage.serve({ headers: OF_THE_ANSWER, limits: [rate(one(stage))], routes: ROUTES })
  const { headers } = await site.ask()
  for (const [name, value] of Object.entries(OF_THE_ANSWER)) assert.equal(headers[name.toLowerCase()], value)
}

async function legacyEpoch(stage: Stage): Promise<void> {
  const site = await stage.behind([rate(one(stage, { headers: 'legacy' }))])
  const endsAt = String(Math.ceil((stage.clock.wall() + 60_000) / 1_000))
  const shown = { 'x-ratelimit-limit': '1', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': endsAt }
  const passed = await site.ask()
  assert.deepEqual(legacy(passed.headers), shown)
  assert.equal('ratelimit' in passed.headers || 'ratelimit-policy' in passed.headers, false)
  stage.clock.advance(55_000)
  const answer = await site.ask()
  assert.equal(answer.status, 429)
  assert.deepEqual(legacy(answer.headers), shown)
}

async function legacyDelta(stage: Stage): Promise<void> {
  const site = await stage.behind([rate(one(stage, { limit: 2, headers: 'legacy', legacy: { reset: 'delta' } }))])
  const shown = { 'x-ratelimit-limit': '2', 'x-ratelimit-remaining': '1', 'x-ratelimit-reset': '60' }
  assert.deepEqual(legacy((await site.ask()).headers), shown)
}

async function draft6(stage: Stage): Promise<void> {
  const site = await stage.behind([rate(one(stage, { headers: 'draft-6' }))])
  const { headers } = await site.ask({ headers: { origin: 'https://shop.example' } })
  assert.equal(headers['access-control-expose-headers'], 'RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset')
  stage.clock.advance(55_000)
  const answer = await site.ask()
  assert.equal(answer.status, 429)
  const names = ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset', 'retry-after', 'ratelimit']
  assert.deepEqual(
    names.map((name) => answer.headers[name]),
    ['1', '0', '5', '5', undefined],
  )
}

async function bothDialects(stage: Stage): Promise<void> {
  const options = one(stage, { headers: ['draft', 'draft-6', 'legacy'], legacy: { reset: 'delta' } })
  const site = await stage.behind([rate(options)])
  const { headers } = await denied(site)
  assert.equal(headers.ratelimit, '"default";r=0;t=60')
  assert.equal(headers['ratelimit-policy'], '"default";q=1;w=60')
  assert.equal(headers['ratelimit-reset'], '60')
  assert.deepEqual(legacy(headers), {
    'x-ratelimit-limit': '1',
    'x-ratelimit-remaining': '0',
    'x-ratelimit-reset': '60',
  })
}

async function onDenied(stage: Stage): Promise<void> {
  const site = await stage.behind([rate(one(stage, { headersOn: 'denied', key: byHeader('x-user') }))])
  const passed = await site.ask()
  assert.equal('ratelimit' in passed.headers || 'ratelimit-policy' in passed.headers, false)
  const answer = await site.ask()
  assert.equal(answer.headers.ratelimit, '"default";r=0;t=60')
  assert.equal(answer.headers['ratelimit-policy'], '"default";q=1;w=60')
}

async function none(stage: Stage): Promise<void> {
  const site = await stage.behind([rate(one(stage, { headers: 'none' }))])
  const { headers, body } = await denied(site)
  assert.deepEqual(Object.keys(own(headers)).sort(), ['cache-control', 'content-length', 'content-type', 'retry-after'])
  assert.equal(body.length, 143)
}

function legacy(all: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(all).filter(([name]) => name.startsWith('x-ratelimit')))
}
