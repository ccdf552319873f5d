import assert from 'node:assert/strict'
import type { TestRunner } from '../suite-runner.ts'
import { cap, type LimiterSpec, rate } from './stage/app-description.ts'
import { type Stage, statuses } from './stage/stage.ts'
import { until } from './stage/until.ts'
import { Watcher } from './stage/watcher.ts'

type Hook = () => never
type Built = (hook: Hook, watcher: Watcher) => LimiterSpec

const WIDE = { limit: 10, window: '1m' } as const

// a limiter whose hook with this name fails
const withHook: Readonly<Record<string, Built>> = {
  key: (key, watcher) => rate({ ...WIDE, key, observers: [watcher] }),
  cost: (cost, watcher) => rate({ ...WIDE, cost, observers: [watcher] }),
  reserve: (reserve, watcher) => rate({ ...WIDE, cost: { reserve, settle: () => 1 }, observers: [watcher] }),
  settle: (settle, watcher) => rate({ ...WIDE, cost: { reserve: 1, settle }, observers: [watcher] }),
  skip: (skip, watcher) => rate({ ...WIDE, skip, observers: [watcher] }),
  window: (window, watcher) => rate({ limit: 10, window, observers: [watcher] }),
  plan: (plan, watcher) => rate({ plans: { free: [WIDE] }, plan, observers: [watcher] }),
  'key of a cap': (key, watcher) => cap({ limit: 10, key, observers: [watcher] }),
  'skip of a cap': (skip, watcher) => cap({ limit: 10, skip, observers: [watcher] }),
  weight: (weight, watcher) => cap({ limit: 10, weight, observers: [watcher] }),
}

const fails: Readonly<Record<string, () => unknown>> = {
  throws: () => {
    throw new Error('no database')
  },
  rejects: () => Promise.reject(new Error('no database')),
  'returns an object': () => ({ odd: true }),
  'returns NaN': () => Number.NaN,
  'returns a promise of a symbol': async () => Symbol('odd'),
}

/** User functions: whatever they do, requests are answered. */
export function hooks(runner: TestRunner, stage: Stage): void {
  const { describe, test } = runner
  describe('a hook that fails', () => {
    for (const [hook, built] of Object.entries(withHook)) {
      for (const [how, fail] of Object.entries(fails)) {
        // any value is accepted as true or false
        if (hook.startsWith('skip') && how.startsWith('returns')) continue
        test(`${hook} ${how}: requests pass, with one warning`, () => failing(stage, built, fail as Hook))
      }
    }
    test('causes the client to be counted by address if it is the key', () => countedByAddress(stage))
    test('causes the first plan to be used if it is the plan', () => firstPlan(stage))
  })
}

async function failing(stage: Stage, built: Built, hook: Hook): Promise<void> {
  const watcher = new Watcher()
  const site = await stage.behind([built(hook, watcher)])
  assert.deepEqual(await statuses(site, 3), [200, 200, 200])
  await until(() => watcher.count('hookFailed') + watcher.count('keyFallback') === 3, { what: 'three failures' })
  const code = watcher.count('keyFallback') > 0 ? 'SLUICE_KEY_FALLBACK' : 'SLUICE_HOOK_FAILED'
  assert.deepEqual(stage.warnings.codes, [code])
}

async function countedByAddress(stage: Stage): Promise<void> {
  const key = (): never => {
    throw new Error('no database')
  }
  const site = await stage.behind([rate({ limit: 1, window: '1m', key })])
  assert.deepEqual(await statuses(site, 2), [200, 429])
}

async function firstPlan(stage: Stage): Promise<void> {
  const plans = { free: [{ limit: 1, window: '1m' }], pro: [{ limit: 9, window: '1m' }] } as const
  const site = await stage.behind([rate({ plans, plan: () => 'gold' })])
  assert.deepEqual(await statuses(site, 2), [200, 429])
  assert.match(stage.warnings.texts[0], /SLUICE_UNKNOWN_PLAN/)
}
