import assert from 'node:assert/strict'
import type { TestRunner } from '../../suite-runner.ts'
import type { RateOptions } from '../stage/app-description.ts'
import { type BuildingStage, type Site, statuses } from '../stage/stage.ts'
import type { LayeredDescription } from './layered-description.ts'

type LayeredStage = BuildingStage<LayeredDescription>
type Rates = Partial<RateOptions>

/** Policies of a route that omit `limit` or `window`, and so change the inherited policy of the same name. */
export function adjustedRates({ describe, test }: TestRunner, stage: LayeredStage): void {
  describe('a rate of a route that omits', () => {
    test('the window has the window and the other options of the inherited policy', () => otherLimit(stage))
    test('the limit has the limit of the inherited policy', () => otherWindow(stage))
    test('the window does not inherit the burst', () => ownBurst(stage))
    test('the window inherits from the nearest part that has the policy', () => nested(stage))
    test('the window changes one of several policies', () => oneOfSeveral(stage))
    test('the window is rejected if no policy has its name, or one that differs between plans', () => rejected(stage))
  })
}

const APP = { limit: 9, window: '1m', algorithm: 'fixed-window' } as const

function serve(stage: LayeredStage, app: Rates, own: Rates, group?: Rates): Promise<Site> {
  const routes = [{ path: '/own', layer: { rateLimit: own as RateOptions } }, { path: '/free' }]
  const rateLimit = { ...app, clock: stage.clock } as RateOptions
  if (!group) return stage.serve({ app: { rateLimit }, routes })
  return stage.serve({ app: { rateLimit }, routes: [], group: { layer: { rateLimit: group as RateOptions }, routes } })
}

async function policiesOf(site: Site, path: string): Promise<string | undefined> {
  return (await site.ask({ path })).headers['ratelimit-policy']
}

async function otherLimit(stage: LayeredStage): Promise<void> {
  const site = await serve(stage, APP, { limit: 2 })
  assert.equal(await policiesOf(site, '/own'), '"default";q=2;w=60')
  stage.clock.advance(30_000)
  assert.deepEqual(await statuses(site, 2, { path: '/own' }), [200, 429])
  // all units return at the end of a fixed window
  stage.clock.advance(30_000)
  assert.deepEqual(await statuses(site, 3, { path: '/own' }), [200, 200, 429])
  assert.equal((await site.ask({ path: '/free' })).headers.ratelimit, '"default";r=8;t=60')
}

async function otherWindow(stage: LayeredStage): Promise<void> {
  const site = await serve(stage, APP, { window: '1h' })
  assert.equal(await policiesOf(site, '/own'), '"default";q=9;w=3600')
}

async function ownBurst(stage: LayeredStage): Promise<void> {
  const bucket = { ...APP, algorithm: 'token-bucket', burst: 20 } as const
  const site = await serve(stage, bucket, { limit: 2 })
  assert.deepEqual(await statuses(site, 3, { path: '/own' }), [200, 200, 429])
}

async function nested(stage: LayeredStage): Promise<void> {
  const site = await serve(stage, APP, { limit: 2 }, { window: '1h', unit: 'units' })
  assert.equal(await policiesOf(site, '/free'), '"default";q=9;qu="units";w=3600')
  assert.equal(await policiesOf(site, '/own'), '"default";q=2;qu="units";w=3600')
}

async function oneOfSeveral(stage: LayeredStage): Promise<void> {
  const daily = { name: 'daily', limit: 99, window: '1d' } as const
  const key = (): string => 'all'
  const policies = [{ ...APP, name: 'burst', key }, daily] as const
  const site = await serve(stage, { policies }, { name: 'burst', limit: 1 })
  assert.equal(await policiesOf(site, '/own'), '"daily";q=99;w=86400, "burst";q=1;w=60')
  assert.equal((await site.ask({ path: '/own' })).status, 429)
}

async function rejected(stage: LayeredStage): Promise<void> {
  const plans = { free: [APP], pro: [{ ...APP, window: '1h' }] } as const
  for (const [app, own] of [
    [APP, { name: 'other', limit: 2 }],
    [{ plans, plan: () => 'free' }, { limit: 2 }],
  ] as const) {
    await assert.rejects(async () => serve(stage, app, own), { code: 'SLUICE_BAD_DURATION' })
  }
}
