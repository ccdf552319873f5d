import assert from 'node:assert/strict'
import { byHeader } from '@sluice/limiter-core'
import type { TestRunner } from '../suite-runner.ts'
import { cap, type RateOptions, rate } from './stage/app-description.ts'
import { type Answered, own } from './stage/client.ts'
import { Gate, type Stage } from './stage/stage.ts'
import { until } from './stage/until.ts'

const QUOTA =
  '{"type":"https://iana.org/assignments/http-problem-types#quota-exceeded","title":"Quota Exceeded",' +
  '"status":429,"violated-policies":["default"]}'
const CAPACITY =
  '{"type":"https://iana.org/assignments/http-problem-types#temporary-reduced-capacity",' +
  '"title":"Temporary Reduced Capacity","status":503,"violated-policies":["inflight"]}'

/** The golden responses, byte for byte except for headers of the server. */
export function goldens({ describe, test }: TestRunner, stage: Stage): void {
  describe('golden responses', () => {
    test('A: an allowed request shows its policy', () => allowed(stage))
    test('B: two policies of one limiter share one line of each header', () => twoPolicies(stage))
    test('C: a denied request is answered 429 with a problem', () => denied(stage))
    test('D: a full cap is answered 503 with a problem', () => full(stage))
    test('D: a request that can never fit the cap is answered without Retry-After', () => tooHeavy(stage))
    test('F: a partition key follows each item', () => partitioned(stage))
    test('G: quotes and backslashes in names are escaped', () => escaped(stage))
  })
}

function fixed(stage: Stage, options: Partial<RateOptions> = {}): RateOptions {
  return { limit: 100, window: '1m', algorithm: 'fixed-window', clock: stage.clock, ...options } as RateOptions
}

function assertAllowed(answer: Answered, policy: string, limit: string): void {
  assert.equal(`${answer.status} ${answer.reason} ${answer.body}`, '200 OK ok')
  assert.equal(answer.headers['ratelimit-policy'], policy)
  assert.equal(answer.headers.ratelimit, limit)
  for (const name of ['retry-after', 'cache-control', 'access-control-expose-headers', 'x-ratelimit-limit']) {
    assert.equal(name in answer.headers, false, `${name} on an allowed response`)
  }
}

async function allowed(stage: Stage): Promise<void> {
  const site = await stage.behind([rate(fixed(stage))])
  assertAllowed(await site.ask(), '"default";q=100;w=60', '"default";r=99;t=60')
}

async function twoPolicies(stage: Stage): Promise<void> {
  const policies = [
    { name: 'burst', limit: 100, window: '1m', algorithm: 'fixed-window' },
    { name: 'daily', limit: 1_000, window: '1d', algorithm: 'fixed-window' },
  ] as const
  const site = await stage.behind([rate({ policies, clock: stage.clock })])
  const answer = await site.ask()
  assertAllowed(answer, '"burst";q=100;w=60, "daily";q=1000;w=86400', '"burst";r=99;t=60, "daily";r=999;t=86400')
}

async function denied(stage: Stage): Promise<void> {
  const site = await stage.behind([rate(fixed(stage, { cost: (req) => Number(req.header('x-cost') ?? 1) }))])
  assert.equal((await site.ask({ headers: { 'x-cost': '100' } })).status, 200)
  stage.clock.advance(55_000)
  const answer = await site.ask()
  assert.equal(`${answer.status} ${answer.reason}`, '429 Too Many Requests')
  assert.deepEqual(own(answer.headers), {
    'retry-after': '5',
    'ratelimit-policy': '"default";q=100;w=60',
    ratelimit: '"default";r=0;t=5',
    'cache-control': 'no-store',
    'content-type': 'application/problem+json',
    'content-length': '143',
  })
  assert.equal(answer.body, QUOTA)
}

async function full(stage: Stage): Promise<void> {
  const gate = new Gate()
  const site = await stage.behind(
    [cap({ limit: 50, weight: (req) => Number(req.header('x-weight') ?? 1) })],
    gate.handler,
  )
  const holder = site.start({ headers: { 'x-weight': '50' } })
  await until(() => gate.entered === 1)
  const answer = await site.ask()
  assert.equal(`${answer.status} ${answer.reason}`, '503 Service Unavailable')
  assert.deepEqual(own(answer.headers), {
    'retry-after': '1',
    'ratelimit-policy': '"inflight";q=50;qu="concurrent-requests"',
    ratelimit: '"inflight";r=0',
    'cache-control': 'no-store',
    'content-type': 'application/problem+json',
    'content-length': '168',
  })
  assert.equal(answer.body, CAPACITY)
  gate.open()
  assert.equal((await holder.answer).status, 200)
}

async function tooHeavy(stage: Stage): Promise<void> {
  const site = await stage.behind([cap({ limit: 50, weight: () => 51 })])
  const answer = await site.ask()
  assert.equal(`${answer.status} ${answer.reason}`, '503 Service Unavailable')
  assert.deepEqual(own(answer.headers), {
    'ratelimit-policy': '"inflight";q=50;qu="concurrent-requests"',
    ratelimit: '"inflight";r=0',
    'cache-control': 'no-store',
    'content-type': 'application/problem+json',
    'content-length': '168',
  })
  assert.equal(answer.body, CAPACITY)
}

async function partitioned(stage: Stage): Promise<void> {
  const options = { name: 'peruser', key: byHeader('x-user'), partitionKey: { secret: 'k' } }
  const site = await stage.behind([rate(fixed(stage, options))])
  const answer = await site.ask({ headers: { 'x-user': 'user:42' } })
  const pk = 'pk=:rzlTllzIrmFf:'
  assertAllowed(answer, `"peruser";q=100;w=60;${pk}`, `"peruser";r=99;t=60;${pk}`)
}

async function escaped(stage: Stage): Promise<void> {
  const site = await stage.behind([rate(fixed(stage, { name: 'in"f\\l' }))])
  assertAllowed(await site.ask(), '"in\\"f\\\\l";q=100;w=60', '"in\\"f\\\\l";r=99;t=60')
}
