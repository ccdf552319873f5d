import assert from 'node:assert/strict'
import { type Backend, memoryBackend } from '@sluice/limiter-core'
import type { TestRunner } from '../../suite-runner.ts'
import { type BuildingStage, type Site, statuses } from '../stage/stage.ts'
import type { LayeredDescription, LayerSpec } from './layered-description.ts'

type LayeredStage = BuildingStage<LayeredDescription>

/** Counts of routes on a backend that several processes may share, and options that are wrong. */
export function layerBackends({ describe, test }: TestRunner, stage: LayeredStage): void {
  describe('routes on one backend', () => {
    test('with policies of one name and different options are counted separately', () => apart(stage))
    test('of two processes are counted together', () => together(stage))
  })
  describe('a route with invalid options', () => {
    const wrong: Readonly<Record<string, [LayerSpec, string]>> = {
      'a window that is not a duration': [{ rateLimit: { limit: 1, window: 'soon' } as never }, 'SLUICE_BAD_DURATION'],
      'a cap without a limit': [{ inflightLimit: {} as never }, 'SLUICE_BAD_LIMIT'],
      'an unknown option': [{ rateLimit: { limit: 1, window: '1m', max: 3 } as never }, 'SLUICE_BAD_OPTION'],
    }
    for (const [what, [layer, code]] of Object.entries(wrong)) {
      test(`fails at start-up: ${what}`, () => refused(stage, layer, code))
    }
  })
}

function serve(stage: LayeredStage, backend: Backend): Promise<Site> {
  const layer = (limit: number): LayerSpec => ({ rateLimit: { limit, window: '1m' } })
  return stage.serve({
    app: { rateLimit: { limit: 9, window: '1m', backend, shared: true } },
    routes: [{ path: '/one', layer: layer(1) }, { path: '/two', layer: layer(2) }, { path: '/free' }],
  })
}

async function apart(stage: LayeredStage): Promise<void> {
  const site = await serve(stage, memoryBackend({ clock: stage.clock }))
  assert.deepEqual(await statuses(site, 2, { path: '/one' }), [200, 429])
  assert.deepEqual(await statuses(site, 3, { path: '/two' }), [200, 200, 429])
  assert.equal((await site.ask({ path: '/free' })).status, 200)
}

async function together(stage: LayeredStage): Promise<void> {
  const backend = memoryBackend({ clock: stage.clock })
  const sites = [await serve(stage, backend), await serve(stage, backend)]
  const all = []
  for (const site of [...sites, ...sites]) all.push((await site.ask({ path: '/two' })).status)
  assert.deepEqual(all, [200, 200, 429, 429])
}

async function refused(stage: LayeredStage, layer: LayerSpec, code: string): Promise<void> {
  const app = { rateLimit: { limit: 9, window: '1m' } } as const
  await assert.rejects(
    async () => stage.serve({ app, routes: [{ path: '/', layer }] }),
    (error: { code?: unknown }) => error.code === code,
  )
}
