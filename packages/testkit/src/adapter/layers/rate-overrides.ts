import assert from 'node:assert/strict'
import type { TestRunner } from '../../suite-runner.ts'
import { PREFLIGHT } from '../preflights.ts'
import type { RateOptions } from '../stage/app-description.ts'
import { type BuildingStage, type Site, statuses } from '../stage/stage.ts'
import type { LayeredDescription, LayerSpec } from './layered-description.ts'

type LayeredStage = BuildingStage<LayeredDescription>

/** Tests of the rates that apply if a route, its part and the application each declare some. */
export function rateOverrides({ describe, test }: TestRunner, stage: LayeredStage): void {
  describe('rates of a route', () => {
    test('without options are those of the application, counted together with its other routes', () => shared(stage))
    test('replace a policy of the same name, and are counted separately', () => replaced(stage))
    test('are added to policies of other names: all are charged, or none', () => added(stage))
    test('replace one of several policies, and the others stay shared', () => oneOfSeveral(stage))
    test('are removed by false', () => removed(stage))
    test('exclude a policy that is skipped by name', () => skippedByName(stage))
    test('are all removed by skipping all', () => skippedAll(stage))
    test('use the key of the application by default', () => keyed(stage))
    test('apply only to this route, even if two routes declare the same', () => apart(stage))
    test('count preflights separately, with the limit of each layer', () => preflights(stage))
  })
  describe('rates of a part', () => {
    test('apply to its routes together, and to no other route', () => grouped(stage))
    test('are replaced by the rates of a route in it', () => groupedRoute(stage))
    test('with the same options as the application count a request once', () => once(stage))
  })
}

const MINUTE = { window: '1m', algorithm: 'fixed-window' } as const

/** Units left by policy after one more request. */
async function left(site: Site, path: string, headers?: Record<string, string>): Promise<string> {
  const answer = await site.ask({ path, ...(headers && { headers }) })
  const items = [...(answer.headers.ratelimit ?? '').matchAll(/"([^"]+)";r=(\d+)/g)]
  return [answer.status, ...items.map(([, name, units]) => `${name} ${units}`).sort()].join(', ')
}

function serve(stage: LayeredStage, app: Partial<RateOptions>, login: LayerSpec, group?: LayerSpec): Promise<Site> {
  const routes = [{ path: '/free' }, { path: '/other' }, { path: '/login', layer: login }]
  const grouped = [{ path: '/in' }, { path: '/inner' }, { path: '/own', layer: login }]
  const rateLimit = { ...MINUTE, clock: stage.clock, ...app } as RateOptions
  return stage.serve({ app: { rateLimit }, routes, ...(group && { group: { layer: group, routes: grouped } }) })
}

async function shared(stage: LayeredStage): Promise<void> {
  const site = await serve(stage, { limit: 2 }, {})
  assert.equal(await left(site, '/free'), '200, default 1')
  assert.equal(await left(site, '/login'), '200, default 0')
  assert.equal(await left(site, '/other'), '429, default 0')
}

async function replaced(stage: LayeredStage): Promise<void> {
  const site = await serve(stage, { limit: 9 }, { rateLimit: { ...MINUTE, limit: 1 } })
  assert.equal(await left(site, '/login'), '200, default 0')
  assert.equal(await left(site, '/login'), '429, default 0')
  assert.equal(await left(site, '/free'), '200, default 8')
}

async function added(stage: LayeredStage): Promise<void> {
  const site = await serve(stage, { limit: 9 }, { rateLimit: { ...MINUTE, name: 'login', limit: 1 } })
  assert.equal(await left(site, '/login'), '200, default 8, login 0')
  assert.equal(await left(site, '/login'), '429, login 0')
  assert.equal(await left(site, '/free'), '200, default 7')
}

async function oneOfSeveral(stage: LayeredStage): Promise<void> {
  const policies = [
    { name: 'burst', limit: 5, window: '1s', algorithm: 'fixed-window' },
    { name: 'daily', limit: 9, window: '1d', algorithm: 'fixed-window' },
  ] as const
  const rateLimit = { name: 'burst', limit: 2, ...MINUTE }
  const site = await stage.serve({
    app: { rateLimit: { policies, clock: stage.clock } },
    routes: [{ path: '/free' }, { path: '/login', layer: { rateLimit } }],
  })
  assert.equal(await left(site, '/login'), '200, burst 1, daily 8')
  assert.equal(await left(site, '/free'), '200, burst 4, daily 7')
}

async function removed(stage: LayeredStage): Promise<void> {
  const site = await serve(stage, { limit: 1 }, { rateLimit: false })
  assert.deepEqual(await statuses(site, 3, { path: '/login' }), [200, 200, 200])
  assert.equal(await left(site, '/login'), '200')
  assert.equal(await left(site, '/free'), '200, default 0')
}

async function skippedByName(stage: LayeredStage): Promise<void> {
  const policies = [
    { name: 'burst', limit: 1, ...MINUTE },
    { name: 'daily', limit: 9, ...MINUTE },
  ]
  const site = await stage.serve({
    app: { rateLimit: { policies, clock: stage.clock } },
    routes: [{ path: '/free' }, { path: '/health', layer: { skipLimits: ['burst'] } }],
  })
  assert.equal(await left(site, '/health'), '200, daily 8')
  assert.equal(await left(site, '/health'), '200, daily 7')
  assert.equal(await left(site, '/free'), '200, burst 0, daily 6')
}

async function skippedAll(stage: LayeredStage): Promise<void> {
  const site = await serve(stage, { limit: 1 }, { skipLimits: true })
  assert.deepEqual(await statuses(site, 3, { path: '/login' }), [200, 200, 200])
  assert.equal(await left(site, '/free'), '200, default 0')
}

async function keyed(stage: LayeredStage): Promise<void> {
  const key = (req: { header(name: string): string | undefined }): string => req.header('x-user') ?? 'nobody'
  const site = await serve(stage, { limit: 9, key }, { rateLimit: { ...MINUTE, name: 'login', limit: 1 } })
  assert.equal(await left(site, '/login', { 'x-user': 'ann' }), '200, default 8, login 0')
  assert.equal(await left(site, '/login', { 'x-user': 'bob' }), '200, default 8, login 0')
  const own = await serve(
    stage,
    { limit: 9, key },
    { rateLimit: { ...MINUTE, name: 'login', limit: 1, key: () => 'all' } },
  )
  assert.equal(await left(own, '/login', { 'x-user': 'ann' }), '200, default 8, login 0')
  assert.equal(await left(own, '/login', { 'x-user': 'bob' }), '429, login 0')
}

async function apart(stage: LayeredStage): Promise<void> {
  const layer = { rateLimit: { ...MINUTE, limit: 1 } }
  const site = await stage.serve({
    app: { rateLimit: { ...MINUTE, limit: 9, clock: stage.clock } },
    routes: [
      { path: '/a', layer },
      { path: '/b', layer },
    ],
  })
  assert.equal(await left(site, '/a'), '200, default 0')
  assert.equal(await left(site, '/b'), '200, default 0')
  assert.equal(await left(site, '/a'), '429, default 0')
}

async function preflights(stage: LayeredStage): Promise<void> {
  const site = await serve(stage, { limit: 2 }, { rateLimit: { ...MINUTE, name: 'login', limit: 1 } })
  const asked = (path: string): Promise<number[]> => statuses(site, 2, { ...PREFLIGHT, path })
  assert.deepEqual(
    [await asked('/login'), await asked('/free')],
    [
      [200, 429],
      [200, 429],
    ],
  )
  assert.equal(await left(site, '/login'), '200, default 1, login 0')
}

async function grouped(stage: LayeredStage): Promise<void> {
  const site = await serve(stage, { limit: 9 }, {}, { rateLimit: { ...MINUTE, limit: 2 } })
  assert.equal(await left(site, '/in'), '200, default 1')
  assert.equal(await left(site, '/inner'), '200, default 0')
  assert.equal(await left(site, '/in'), '429, default 0')
  assert.equal(await left(site, '/free'), '200, default 8')
}

async function groupedRoute(stage: LayeredStage): Promise<void> {
  const own = { rateLimit: { ...MINUTE, limit: 1 } }
  const site = await serve(stage, { limit: 9 }, own, { rateLimit: { ...MINUTE, limit: 5 } })
  assert.equal(await left(site, '/own'), '200, default 0')
  assert.equal(await left(site, '/own'), '429, default 0')
  assert.equal(await left(site, '/in'), '200, default 4')
  const beside = await serve(
    stage,
    { limit: 9 },
    { rateLimit: { ...MINUTE, name: 'own', limit: 3 } },
    {
      rateLimit: { ...MINUTE, name: 'part', limit: 5 },
    },
  )
  assert.equal(await left(beside, '/own'), '200, default 8, own 2, part 4')
}

async function once(stage: LayeredStage): Promise<void> {
  const site = await serve(stage, { limit: 3 }, {}, { rateLimit: { ...MINUTE, limit: 3 } })
  assert.equal(await left(site, '/in'), '200, default 2')
  assert.equal(await left(site, '/in'), '200, default 1')
  assert.equal(await left(site, '/free'), '200, default 2')
  assert.deepEqual(stage.warnings.codes, [])
}
