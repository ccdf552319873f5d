import assert from 'node:assert/strict'
import type { TestRunner } from '../suite-runner.ts'
import { cap, type Feature, type LimiterSpec, rate } from './stage/app-description.ts'
import { Gate, ok, type Stage, statuses } from './stage/stage.ts'
import { until } from './stage/until.ts'
import { Watcher } from './stage/watcher.ts'

const ONE = { limit: 1, window: '1m' } as const

/** Limiters that watch, that do nothing, and that are put where they should not be. */
export function modes({ describe, test }: TestRunner, stage: Stage, without: readonly Feature[]): void {
  describe('shadow', () => {
    test('counts without denying and without headers', () => shadow(stage))
    test('of one policy leaves the other policies enforced', () => shadowPolicy(stage))
    test('of a cap holds permits without denying', () => shadowCap(stage))
  })
  describe('off', () => {
    test('counts nothing', () => off(stage))
    test('in the environment switches off everything, whatever the code sets', () => killed(stage, 'off', 0))
    test('shadow in the environment admits every request and counts', () => killed(stage, 'shadow', 3))
  })
  describe('an observer', () => {
    test('receives the request of each decision and permit', () => observed(stage))
  })
  describe('a limiter in the wrong place', () => {
    if (!without.includes('met-twice')) {
      test('that sees a request twice counts it once, and warns once', () => metTwice(stage))
      test('that caps a request twice holds one permit', () => cappedTwice(stage))
    }
    if (!without.includes('built-per-request')) {
      test('that is created while a request is handled warns, and responses are unaffected', () =>
        builtPerRequest(stage, rate(ONE)))
      test('that caps and is created while a request is handled warns as well', () =>
        builtPerRequest(stage, cap({ limit: 1 })))
    }
  })
}

async function shadow(stage: Stage): Promise<void> {
  const watcher = new Watcher()
  const site = await stage.behind([rate({ ...ONE, mode: 'shadow', observers: [watcher] })])
  assert.deepEqual(await statuses(site, 3), [200, 200, 200])
  assert.equal('ratelimit' in (await site.ask()).headers, false)
  const denied = watcher.decisions.map(({ verdicts: [{ allowed }] }) => !allowed)
  assert.deepEqual(denied, [false, true, true, true])
}

async function shadowPolicy(stage: Stage): Promise<void> {
  const policies = [
    { name: 'new', limit: 1, window: '1m', mode: 'shadow', algorithm: 'fixed-window' },
    { name: 'old', limit: 2, window: '1m', algorithm: 'fixed-window' },
  ] as const
  const site = await stage.behind([rate({ policies, clock: stage.clock })])
  assert.deepEqual(await statuses(site, 2), [200, 200])
  const { status, headers, body } = await site.ask()
  assert.equal(`${status} ${headers.ratelimit}`, '429 "old";r=0;t=60')
  assert.equal(headers['ratelimit-policy'], '"old";q=2;w=60')
  assert.deepEqual(JSON.parse(body)['violated-policies'], ['old'])
}

async function shadowCap(stage: Stage): Promise<void> {
  const watcher = new Watcher()
  const gate = new Gate()
  const site = await stage.behind([cap({ limit: 1, mode: 'shadow', observers: [watcher] })], gate.handler)
  const both = [site.start(), site.start()]
  await until(() => gate.entered === 2)
  assert.deepEqual([watcher.held, watcher.denied], [1, 1])
  gate.open()
  for (const { answer } of both) assert.equal((await answer).status, 200)
}

async function off(stage: Stage): Promise<void> {
  const watcher = new Watcher()
  const observers = [watcher]
  const site = await stage.behind([rate({ ...ONE, mode: 'off', observers }), cap({ limit: 1, mode: 'off', observers })])
  assert.deepEqual(await statuses(site, 3), [200, 200, 200])
  assert.deepEqual([watcher.decisions.length, watcher.acquired], [0, 0])
}

async function observed(stage: Stage): Promise<void> {
  const watcher = new Watcher()
  const observers = [watcher]
  const limits = [rate({ ...ONE, observers }), cap({ limit: 1, observers })]
  const site = await stage.serve({ limits: [], routes: [{ path: '/', limits, handler: ok }] })
  assert.deepEqual(await statuses(site, 2), [200, 429])
  assert.equal(watcher.requests.length >= 3, true)
  for (const one of watcher.requests) {
    assert.equal(`${one.method} ${one.type}`, 'GET object')
    assert.equal(one.route === undefined || one.route === '/', true)
  }
}

async function killed(stage: Stage, mode: string, counted: number): Promise<void> {
  const watcher = new Watcher()
  const observers = [watcher]
  process.env.SLUICE_MODE = mode
  try {
    const site = await stage.behind([rate({ ...ONE, observers }), cap({ limit: 1, observers })])
    assert.deepEqual(await statuses(site, 3), [200, 200, 200])
    await until(() => watcher.held === 0)
    assert.deepEqual([watcher.decisions.length, watcher.acquired], [counted, counted])
  } finally {
    delete process.env.SLUICE_MODE
  }
}

async function metTwice(stage: Stage): Promise<void> {
  const limiter = rate({ ...ONE, limit: 2, algorithm: 'fixed-window', clock: stage.clock })
  const routes = [{ path: '/', limits: [limiter], handler: ok }]
  const site = await stage.serve({ limits: [limiter], routes })
  assert.equal((await site.ask()).headers.ratelimit, '"default";r=1;t=60')
  assert.deepEqual(await statuses(site, 2), [200, 429])
  assert.deepEqual(stage.warnings.codes, ['SLUICE_LIMITER_TWICE'])
}

async function cappedTwice(stage: Stage): Promise<void> {
  const watcher = new Watcher()
  const limiter = cap({ limit: 1, observers: [watcher] })
  const site = await stage.behind([limiter, limiter])
  assert.deepEqual(await statuses(site, 2), [200, 200])
  assert.equal(watcher.mostHeld, 1)
}

async function builtPerRequest(stage: Stage, limiter: LimiterSpec): Promise<void> {
  const routes = [{ path: '/', handler: ok }]
  const site = await stage.serve({ limits: [limiter], routes, builtPerRequest: true })
  assert.deepEqual(await statuses(site, 3), [200, 200, 200])
  assert.deepEqual(stage.warnings.codes, ['SLUICE_LIMITER_IN_HANDLER'])
}
