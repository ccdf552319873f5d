import assert from 'node:assert/strict'
import { byHeader } from '@sluice/limiter-core'
import type { TestRunner } from '../suite-runner.ts'
import { cap, rate, type SlowOptions, slow } from './stage/app-description.ts'
import { type Asked, own, type Pending } from './stage/client.ts'
import { ok, type Site, type Stage, statuses } from './stage/stage.ts'
import { until } from './stage/until.ts'
import { Watcher } from './stage/watcher.ts'

const CURVE = { after: 2, window: '1h', delayMs: 300, maxDelayMs: 1_000 } as const
const QUOTA =
  '{"type":"https://iana.org/assignments/http-problem-types#quota-exceeded","title":"Quota Exceeded",' +
  '"status":429,"violated-policies":["slow-down"]}'

/** Requests that wait instead of being denied, in the time of the stage's clock alone. */
export function slowDown({ describe, test }: TestRunner, stage: Stage): void {
  describe('a slow-down', () => {
    test('does not delay up to `after`, and delays each unit above by one more step, up to the maximum', () =>
      curve(stage))
    test('writes no headers, and does not change the headers of a rate limit', () => unseen(stage))
    test('delays only clients above `after`', () => keyed(stage))
    test('stops waiting for a client that disconnects: its queue slot is free, and its handler never runs', () =>
      left(stage))
    test('denies a request that cannot wait, without charging it', () => full(stage))
    test('in shadow counts without delaying, and reports the delay it would have applied', () => shadow(stage))
    test('holds no permit of a later cap while a request waits', () => uncapped(stage))
    test('applies both delays in turn if a request is above the limits of two slow-downs', () => two(stage))
  })
}

function slowed(stage: Stage, options: Partial<SlowOptions> = {}): ReturnType<typeof slow> {
  return slow({ ...CURVE, clock: stage.clock, ...options })
}

/** Sends a request, and resolves when it is being delayed. */
async function waiting(stage: Stage, site: Site, asked?: Asked): Promise<Pending> {
  const before = stage.clock.pending
  const request = site.start(asked)
  await until(() => stage.clock.pending === before + 1, { what: 'a request that waits' })
  return request
}

async function curve(stage: Stage): Promise<void> {
  let handled = 0
  const site = await stage.behind([slowed(stage)], () => {
    handled++
    return ok()
  })
  assert.deepEqual(await statuses(site, 2), [200, 200])
  for (const [over, delayMs] of [300, 600, 900, 1_000, 1_000].entries()) {
    const { answer } = await waiting(stage, site)
    stage.clock.advance(delayMs - 1)
    assert.deepEqual([stage.clock.pending, handled], [1, 2 + over], `one ms before the end of ${delayMs} ms`)
    stage.clock.advance(1)
    assert.equal((await answer).status, 200)
    assert.deepEqual([stage.clock.pending, handled], [0, 3 + over], `after ${delayMs} ms`)
  }
}

async function unseen(stage: Stage): Promise<void> {
  const wide = rate({ limit: 9, window: '1m', algorithm: 'fixed-window', clock: stage.clock })
  const alone = await stage.behind([slowed(stage, { after: 1 })])
  const beside = await stage.behind([wide, slowed(stage, { after: 1 })])
  assert.deepEqual(Object.keys(own((await alone.ask()).headers)).filter(ofLimits), [])
  await beside.ask()
  const { answer } = await waiting(stage, beside)
  stage.clock.advance(300)
  const { headers } = await answer
  assert.equal(`${headers['ratelimit-policy']} ${headers.ratelimit}`, '"default";q=9;w=60 "default";r=7;t=60')
}

function ofLimits(name: string): boolean {
  return /ratelimit|retry-after|cache-control/.test(name)
}

async function keyed(stage: Stage): Promise<void> {
  const site = await stage.behind([slowed(stage, { key: byHeader('x-user') })])
  const [ann, bob] = ['ann', 'bob'].map((user) => ({ headers: { 'x-user': user } }))
  assert.deepEqual(await statuses(site, 2, ann), [200, 200])
  const { answer } = await waiting(stage, site, ann)
  assert.deepEqual(await statuses(site, 2, bob), [200, 200])
  assert.equal(stage.clock.pending, 1)
  stage.clock.advance(300)
  assert.equal((await answer).status, 200)
}

async function left(stage: Stage): Promise<void> {
  const paths: (string | undefined)[] = []
  const site = await stage.behind([slowed(stage, { after: 0, maxWaiting: 1 })], ({ request }) => {
    paths.push(request.header('x-who'))
    return ok()
  })
  const gone = await waiting(stage, site, { headers: { 'x-who': 'gone' } })
  gone.abort()
  await until(() => stage.clock.pending === 0, { what: 'the end of the wait' })
  const { answer } = await waiting(stage, site, { headers: { 'x-who': 'here' } })
  stage.clock.advance(1_000)
  assert.equal((await answer).status, 200)
  assert.deepEqual(paths, ['here'])
}

async function full(stage: Stage): Promise<void> {
  const watcher = new Watcher()
  const site = await stage.behind([
    slowed(stage, { after: 0, delayMs: 1_001, maxDelayMs: 9_000, maxWaiting: 1, observers: [watcher] }),
  ])
  const first = await waiting(stage, site)
  for (let time = 0; time < 3; time++) {
    const { status, reason, headers, body } = await site.ask()
    assert.equal(`${status} ${reason} ${body}`, `429 Too Many Requests ${QUOTA}`)
    assert.deepEqual(own(headers), {
      // that of the second unit, each time: 2,002 ms
      'retry-after': '3',
      'cache-control': 'no-store',
      'content-type': 'application/problem+json',
      'content-length': '145',
    })
  }
  stage.clock.advance(1_001)
  assert.equal((await first.answer).status, 200)
  const events = watcher.events.map(({ name, data }) => `${name} ${data.outcome} ${data.delayMs}`)
  assert.deepEqual(events, ['slowed waits 1001', ...Array(3).fill('slowed denied 2002')])
}

async function shadow(stage: Stage): Promise<void> {
  const watcher = new Watcher()
  const site = await stage.behind([slowed(stage, { mode: 'shadow', maxWaiting: 1, observers: [watcher] })])
  assert.deepEqual(await statuses(site, 4), [200, 200, 200, 200])
  assert.equal(watcher.decisions.length, 4)
  const events = watcher.events.map(({ name, data }) => `${name} ${data.policy} ${data.outcome} ${data.delayMs}`)
  assert.deepEqual(events, ['slowed slow-down shadow 300', 'slowed slow-down shadow 600'])
}

async function uncapped(stage: Stage): Promise<void> {
  const watcher = new Watcher()
  const site = await stage.behind([slowed(stage, { after: 1 }), cap({ limit: 1, observers: [watcher] })])
  assert.equal((await site.ask()).status, 200)
  await until(() => watcher.held === 0)
  const { answer } = await waiting(stage, site)
  assert.equal(watcher.acquired, 1)
  stage.clock.advance(300)
  assert.equal((await answer).status, 200)
  assert.equal(watcher.acquired, 2)
}

async function two(stage: Stage): Promise<void> {
  const site = await stage.behind([
    slowed(stage, { name: 'burst', after: 1 }),
    slowed(stage, { name: 'daily', after: 2, window: '1d', delayMs: 700 }),
  ])
  assert.equal((await site.ask()).status, 200)
  const second = await waiting(stage, site)
  stage.clock.advance(300)
  assert.equal((await second.answer).status, 200)
  const third = await waiting(stage, site)
  stage.clock.advance(600)
  // over in both: one wait after the other
  await until(() => stage.clock.pending === 1, { what: 'the second wait' })
  stage.clock.advance(700)
  assert.equal((await third.answer).status, 200)
}
