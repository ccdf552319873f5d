import assert from 'node:assert/strict'
import type { TestRunner } from '../suite-runner.ts'
import { type HookRequest, type LimiterSpec, type RateOptions, rate } from './stage/app-description.ts'
import { type Site, type Stage, statuses } from './stage/stage.ts'
import { Watcher } from './stage/watcher.ts'

/** Limits and windows that are functions of the request. */
export function requestLimits({ describe, test }: TestRunner, stage: Stage): void {
  describe('a limit that is a function', () => {
    test('applies to the one count of the key, and is written in the headers', () => oneCount(stage))
    test('of 0 denies the request, and Infinity exempts it', () => noneAndAll(stage))
    test('may be the limit of one policy of several, and of a plan', () => ofOnePolicy(stage))
    test('that fails applies the smallest limit so far', () => smallestSoFar(stage))
    test('has its settled units given back to the count of the key', () => givenBack(stage))
  })
  describe('a window that is a function', () => {
    test('counts requests with different windows separately', () => separately(stage))
    test('that fails applies the longest window so far', () => longestSoFar(stage))
  })
}

const limitOf = (req: HookRequest): number => Number(req.header('x-limit'))
const limited = (limit: number | string): { headers: Record<string, string> } => ({
  headers: { 'x-limit': `${limit}` },
})

function limiting(stage: Stage, options: Partial<RateOptions> = {}): LimiterSpec {
  const policy = { name: 'api', limit: limitOf, window: '1m', algorithm: 'fixed-window', clock: stage.clock } as const
  return rate({ ...policy, ...options } as RateOptions)
}

async function answered(site: Site, headers: Readonly<Record<string, string>>): Promise<string> {
  const { status, headers: sent } = await site.ask({ headers })
  return `${status} ${sent['ratelimit-policy'] ?? ''} ${sent.ratelimit ?? ''}`
}

async function oneCount(stage: Stage): Promise<void> {
  for (const limit of [limitOf, async (req: HookRequest) => limitOf(req)]) {
    const site = await stage.behind([limiting(stage, { limit })])
    const seen: string[] = []
    for (const one of [10, 2, 2, 10, 3]) seen.push(await answered(site, limited(one).headers))
    assert.deepEqual(seen, [
      '200 "api";q=10;w=60 "api";r=9;t=60',
      '200 "api";q=2;w=60 "api";r=0;t=60',
      '429 "api";q=2;w=60 "api";r=0;t=60',
      '200 "api";q=10;w=60 "api";r=7;t=60',
      '429 "api";q=3;w=60 "api";r=0;t=60',
    ])
  }
}

async function noneAndAll(stage: Stage): Promise<void> {
  const site = await stage.behind([limiting(stage)])
  assert.deepEqual(await statuses(site, 2, limited(0)), [429, 429])
  assert.deepEqual(await statuses(site, 2, limited('Infinity')), [200, 200])
  assert.equal(await answered(site, limited(2).headers), '200 "api";q=2;w=60 "api";r=1;t=60')
  const shadow = await stage.behind([limiting(stage, { mode: 'shadow' })])
  assert.deepEqual(await statuses(shadow, 2, limited(0)), [200, 200])
}

async function ofOnePolicy(stage: Stage): Promise<void> {
  const fixed = { name: 'all', limit: 3, window: '1h', algorithm: 'fixed-window' } as const
  const own = { name: 'own', limit: limitOf, window: '1m', algorithm: 'fixed-window' } as const
  const clock = stage.clock
  const several = await stage.behind([rate({ policies: [fixed, own], clock })])
  assert.deepEqual(await statuses(several, 2, limited(1)), [200, 429])
  assert.deepEqual(await statuses(several, 3, limited(9)), [200, 200, 429])
  const planned = await stage.behind([
    rate({ plans: { free: [fixed], own: [own] }, plan: (req) => req.header('x-plan'), clock }),
  ])
  const headers = { 'x-plan': 'own', 'x-limit': '5' }
  assert.deepEqual(await statuses(planned, 6, { headers }), [200, 200, 200, 200, 200, 429])
}

async function smallestSoFar(stage: Stage): Promise<void> {
  const watcher = new Watcher()
  const site = await stage.behind([limiting(stage, { observers: [watcher] })])
  assert.deepEqual(await statuses(site, 2, limited('odd')), [200, 429])
  assert.deepEqual(await statuses(site, 2, limited(3)), [200, 200])
  assert.deepEqual(await statuses(site, 1, limited(9)), [200])
  assert.equal((await site.ask(limited(-1))).headers['ratelimit-policy'], '"api";q=3;w=60')
  assert.equal(watcher.count('hookFailed'), 3)
  assert.deepEqual(stage.warnings.codes, ['SLUICE_HOOK_FAILED'])
}

async function givenBack(stage: Stage): Promise<void> {
  const site = await stage.behind([limiting(stage, { countOnly: 'failures' })])
  assert.deepEqual(await statuses(site, 3, limited(1)), [200, 200, 200])
}

const windowed = (limit: number, window: string): { headers: Record<string, string> } => ({
  headers: { 'x-limit': `${limit}`, 'x-window': window },
})

function windowing(stage: Stage, options: Partial<RateOptions> = {}): LimiterSpec {
  const window = (req: HookRequest): string => req.header('x-window') as string
  return limiting(stage, { window: window as never, ...options })
}

async function separately(stage: Stage): Promise<void> {
  const site = await stage.behind([windowing(stage)])
  assert.equal(await answered(site, windowed(5, '1m').headers), '200 "api";q=5;w=60 "api";r=4;t=60')
  assert.equal(await answered(site, windowed(5, '1h').headers), '200 "api";q=5;w=3600 "api";r=4;t=3600')
  assert.equal(await answered(site, windowed(5, '60s').headers), '200 "api";q=5;w=60 "api";r=3;t=60')
  stage.clock.advance(60_000)
  assert.equal(await answered(site, windowed(5, '1m').headers), '200 "api";q=5;w=60 "api";r=4;t=60')
  assert.equal(await answered(site, windowed(1, '1h').headers), '429 "api";q=1;w=3600 "api";r=0;t=3540')
}

async function longestSoFar(stage: Stage): Promise<void> {
  const watcher = new Watcher()
  const site = await stage.behind([windowing(stage, { observers: [watcher] })])
  assert.equal(await answered(site, windowed(5, 'odd').headers), '200 "api";q=5;w=60 "api";r=4;t=60')
  await statuses(site, 1, windowed(5, '1h'))
  await statuses(site, 1, windowed(5, '1s'))
  assert.equal(await answered(site, windowed(5, 'odd').headers), '200 "api";q=5;w=3600 "api";r=3;t=3600')
  assert.equal(watcher.count('hookFailed'), 2)
  assert.deepEqual(stage.warnings.codes, ['SLUICE_HOOK_FAILED'])
}
