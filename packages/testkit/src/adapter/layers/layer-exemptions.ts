import assert from 'node:assert/strict'
import { byHeader, DENY, EXEMPT } from '@sluice/limiter-core'
import type { TestRunner } from '../../suite-runner.ts'
import type { HookRequest, RateOptions } from '../stage/app-description.ts'
import { type BuildingStage, type Site, statuses } from '../stage/stage.ts'
import type { LayeredDescription } from './layered-description.ts'

type LayeredStage = BuildingStage<LayeredDescription>
type LayerOptions = Partial<RateOptions>

const MINUTE = { window: '1m', algorithm: 'fixed-window' } as const

/** Exemptions of a route apply to the policies of their layer only. */
export function layerExemptions({ describe, test }: TestRunner, stage: LayeredStage): void {
  describe('exemption by a route', () => {
    test('by its key applies only to its own policy: the policy of the application counts', () =>
      fromItsOwn(stage, { key: () => EXEMPT }))
    test('by an asynchronous key, likewise', () => fromItsOwn(stage, { key: async () => EXEMPT }))
    test('by its skip, likewise', () => fromItsOwn(stage, { skip: () => true }))
    test('by a missing header of its key, likewise', () =>
      fromItsOwn(stage, { key: byHeader<HookRequest>('x-api-key', { missing: 'exempt' }) }))
    test('does not exempt from the policies of its part', () => fromItsOwnOfThree(stage))
  })
  describe('exemption by the application', () => {
    test('by its key does not exempt from a route policy with its own key', () =>
      fromTheApplications(stage, { key: () => EXEMPT }, { key: () => 'me', skip: () => false }))
    test('by its skip does not exempt from a route policy with its own skip', () =>
      fromTheApplications(stage, { skip: () => true }, { skip: () => false }))
    test('also applies to a route without key and skip', () => fromBoth(stage))
  })
  describe('a key of DENY', () => {
    test('of a route wins over EXEMPT of the application', () =>
      denied(
        stage,
        () => EXEMPT,
        () => DENY,
      ))
    test('of the application wins over EXEMPT of a route', () =>
      denied(
        stage,
        () => DENY,
        () => EXEMPT,
      ))
  })
}

function serve(stage: LayeredStage, app: LayerOptions, own: LayerOptions): Promise<Site> {
  const rateLimit = { name: 'app', limit: 2, ...MINUTE, clock: stage.clock, ...app } as RateOptions
  const layer = { rateLimit: { name: 'own', limit: 1, ...MINUTE, ...own } as RateOptions }
  return stage.serve({ app: { rateLimit }, routes: [{ path: '/own', layer }, { path: '/free' }] })
}

async function fromItsOwn(stage: LayeredStage, own: LayerOptions): Promise<void> {
  const site = await serve(stage, {}, own)
  assert.deepEqual(await statuses(site, 4, { path: '/own' }), [200, 200, 429, 429])
  assert.equal((await site.ask({ path: '/free' })).status, 429)
}

async function fromItsOwnOfThree(stage: LayeredStage): Promise<void> {
  const own = { rateLimit: { name: 'own', limit: 1, ...MINUTE, key: () => EXEMPT } }
  const site = await stage.serve({
    app: { rateLimit: { name: 'app', limit: 9, ...MINUTE, clock: stage.clock } },
    routes: [{ path: '/free' }],
    group: { layer: { rateLimit: { name: 'part', limit: 2, ...MINUTE } }, routes: [{ path: '/own', layer: own }] },
  })
  assert.deepEqual(await statuses(site, 3, { path: '/own' }), [200, 200, 429])
}

async function fromTheApplications(stage: LayeredStage, app: LayerOptions, own: LayerOptions): Promise<void> {
  const site = await serve(stage, app, own)
  assert.deepEqual(await statuses(site, 2, { path: '/own' }), [200, 429])
  assert.deepEqual(await statuses(site, 4, { path: '/free' }), [200, 200, 200, 200])
}

async function fromBoth(stage: LayeredStage): Promise<void> {
  for (const app of [{ key: () => EXEMPT }, { skip: () => true }]) {
    const site = await serve(stage, app as LayerOptions, {})
    assert.deepEqual(await statuses(site, 3, { path: '/own' }), [200, 200, 200])
  }
}

async function denied(stage: LayeredStage, app: RateOptions['key'], own: RateOptions['key']): Promise<void> {
  const site = await serve(stage, { key: app }, { key: own })
  assert.deepEqual(await statuses(site, 2, { path: '/own' }), [429, 429])
}
