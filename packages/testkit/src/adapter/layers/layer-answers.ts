import assert from 'node:assert/strict'
import { failingBackend } from '../../failing-backend.ts'
import type { TestRunner } from '../../suite-runner.ts'
import type { RateOptions } from '../stage/app-description.ts'
import { type BuildingStage, type Site, statuses } from '../stage/stage.ts'
import { parseList } from '../stage/structured-list.ts'
import type { LayeredDescription } from './layered-description.ts'

type LayeredStage = BuildingStage<LayeredDescription>
type LayerOptions = Partial<RateOptions>

const MINUTE = { window: '1m', algorithm: 'fixed-window' } as const

/** Settings of a route apply to its own policies only: denial responses, headers and failure rules. */
export function layerAnswers({ describe, test }: TestRunner, stage: LayeredStage): void {
  describe('a denial on a route with a custom response', () => {
    test('has the status of the layer whose policy denied', () => denialsOfEach(stage, { status: 403 }, 403, ''))
    test('has the response of the layer whose policy denied', () =>
      denialsOfEach(stage, { denied: (_req, res) => res.send({ body: 'mine' }) }, 429, 'mine'))
    test('has the response of the application if the route has none', () => inherited(stage))
  })
  describe('header options of a route', () => {
    test('hide its policies, and leave the headers of the application unchanged', () =>
      shown(stage, { headers: 'none' }, ['app']))
    test('for denials only leave the headers of the application unchanged', () =>
      shown(stage, { headersOn: 'denied' }, ['app']))
    test('add a partition key only to its own policy', () => partitioned(stage))
    test('write the fields of a vendor only for its own policy', () => ofVendor(stage))
  })
  describe('a route whose backend fails', () => {
    test('is denied if the application has the rule deny, whatever the rule of the route', () =>
      failing(stage, { onBackendError: 'deny' }, { onBackendError: 'allow' }, [429, 429]))
    test('is counted in this process if the application has the rule local', () =>
      failing(stage, { onBackendError: 'local' }, { onBackendError: 'allow' }, [200, 429]))
    test('is denied by its own rule, which affects no other route', () =>
      failing(stage, { onBackendError: 'allow' }, { onBackendError: 'deny' }, [429, 429], [200, 200]))
    test('takes nothing in this process for a policy next to one that denies', () =>
      failing(stage, { onBackendError: 'local' }, { onBackendError: 'deny' }, [429, 429], [200, 429]))
  })
  test('a route in shadow mode leaves the policy of the application enforced', async () => {
    const site = await serve(stage, { limit: 1 }, { mode: 'shadow' })
    assert.deepEqual(await statuses(site, 2, { path: '/own' }), [200, 429])
  })
  test('observers of the application receive decisions of its policies on a route with its own policies', () =>
    observedByBoth(stage))
}

function serve(stage: LayeredStage, app: LayerOptions, own: LayerOptions): Promise<Site> {
  const rateLimit = { name: 'app', limit: 3, ...MINUTE, clock: stage.clock, ...app } as RateOptions
  const layer = { rateLimit: { name: 'own', limit: 2, ...MINUTE, ...own } as RateOptions }
  return stage.serve({ app: { rateLimit }, routes: [{ path: '/own', layer }, { path: '/free' }] })
}

async function denialsOfEach(stage: LayeredStage, own: LayerOptions, status: number, body: string): Promise<void> {
  const byOwn = await serve(stage, {}, own)
  assert.deepEqual(await statuses(byOwn, 3, { path: '/own' }), [200, 200, status])
  const denied = await byOwn.ask({ path: '/own' })
  assert.ok(denied.body.includes(body), denied.body)
  const byApplication = await serve(stage, { limit: 1 }, own)
  assert.deepEqual(await statuses(byApplication, 2, { path: '/own' }), [200, 429])
  const { body: usual } = await byApplication.ask({ path: '/own' })
  assert.deepEqual(JSON.parse(usual)['violated-policies'], ['app'])
}

async function inherited(stage: LayeredStage): Promise<void> {
  const site = await serve(stage, { status: 420 }, {})
  assert.deepEqual(await statuses(site, 3, { path: '/own' }), [200, 200, 420])
}

async function shown(stage: LayeredStage, own: LayerOptions, names: readonly string[]): Promise<void> {
  const site = await serve(stage, {}, own)
  const { headers } = await site.ask({ path: '/own' })
  for (const field of ['ratelimit', 'ratelimit-policy']) {
    assert.deepEqual(
      parseList(headers[field] ?? '').map(({ name }) => name),
      names,
    )
  }
}

async function partitioned(stage: LayeredStage): Promise<void> {
  const site = await serve(stage, {}, { partitionKey: { secret: 'known to the servers' } })
  const { headers } = await site.ask({ path: '/own' })
  assert.match(headers.ratelimit ?? '', /^"app";r=2;t=60, "own";r=1;t=60;pk=:.+:$/)
  assert.match(headers['ratelimit-policy'] ?? '', /^"app";q=3;w=60, "own";q=2;w=60;pk=:.+:$/)
}

async function ofVendor(stage: LayeredStage): Promise<void> {
  const site = await serve(stage, { limit: 2 }, { headers: 'openai', limit: 5, window: '30s' })
  const { headers } = await site.ask({ path: '/own' })
  assert.equal(headers.ratelimit, '"app";r=1;t=60, "own";r=4;t=30')
  assert.equal(headers['x-ratelimit-remaining-requests'], '4')
  await site.ask({ path: '/own' })
  // denied by the application, which has no such fields
  const denied = await site.ask({ path: '/own' })
  assert.equal(denied.status, 429)
  assert.equal(denied.headers['retry-after'], '60')
  assert.equal(denied.headers['x-ratelimit-remaining-requests'], undefined)
}

/** Statuses of the route, and then of another one. */
async function failing(
  stage: LayeredStage,
  app: LayerOptions,
  own: LayerOptions,
  ofRoute: readonly number[],
  ofOther: readonly number[] = [],
): Promise<void> {
  const fails = (): Promise<never> => Promise.reject(new Error('nobody is there'))
  const backend = failingBackend(fails)
  const site = await serve(stage, { limit: 1, backend, ...app }, own)
  assert.deepEqual(await statuses(site, ofRoute.length, { path: '/own' }), ofRoute)
  assert.deepEqual(await statuses(site, ofOther.length, { path: '/free' }), ofOther)
}

async function observedByBoth(stage: LayeredStage): Promise<void> {
  const observed: string[] = []
  const observer = (who: string) => ({ decided: () => void observed.push(who) })
  const site = await serve(stage, { observers: [observer('app')] }, { observers: [observer('own')] })
  await site.ask({ path: '/own' })
  assert.deepEqual(observed, ['app', 'own'])
  await site.ask({ path: '/free' })
  assert.deepEqual(observed, ['app', 'own', 'app'])
}
