import assert from 'node:assert/strict'
import {
  type Backend,
  createInflightLimiter,
  type FailoverOptions,
  type InflightBackend,
  type MaybePromise,
  memoryBackend,
} from '@sluice/limiter-core'
import { FULL } from '@sluice/limiter-core/backend'
import { failingBackend } from '../failing-backend.ts'
import { FrontCounters } from '../front-counters.ts'
import type { TestRunner } from '../suite-runner.ts'
import { cap, type LimiterSpec, rate } from './stage/app-description.ts'
import { Gate, type Stage, statuses } from './stage/stage.ts'
import { until } from './stage/until.ts'
import { Watcher } from './stage/watcher.ts'

const WIDE = { limit: 2, window: '1m', algorithm: 'fixed-window' } as const

/** Backends that answer later, or not at all. */
export function backends({ describe, test }: TestRunner, stage: Stage): void {
  describe('an asynchronous backend', () => {
    test('limits like a synchronous one', () => laterRates(stage))
    test('settles a request that it counted', () => laterSettles(stage))
    test('caps like a synchronous one', () => laterCaps(stage))
  })
  for (const [how, fail] of Object.entries({ ...fails, 'never answers': silent })) {
    describe(`a backend that ${how}`, () => {
      test('leaves the limit to this process, and observers are notified', () => failsOver(stage, fail))
      test('admits requests if the failure rule allows, without numbers in headers', () => failsOpen(stage, fail))
      test('denies requests if the failure rule denies', () => failsShut(stage, fail))
    })
  }
  for (const [how, fail] of Object.entries(fails)) {
    describe(`a backend of permits that ${how}`, () => {
      test('admits requests, and observers are notified', () => failing(stage, capsOver(fail)))
    })
  }
}

type Fail = () => MaybePromise<never>

const fails: Readonly<Record<string, Fail>> = {
  throws: () => {
    throw new Error('ECONNREFUSED')
  },
  rejects: () => Promise.reject(new Error('ECONNREFUSED')),
}
const silent: Fail = () => new Promise<never>(() => {})

/** A memory backend that answers asynchronously, like a server over a network. */
function laterBackend(stage: Stage): Backend {
  const memory = memoryBackend({ clock: stage.clock })
  const counters = new FrontCounters(memory)
  const later: Backend = {
    name: 'later',
    open: (compiled, name) => counters.open(later, compiled, name),
    takeAll: async (charges, moment) => memory.takeAll(counters.behind(charges), moment),
    peekAll: async (charges, moment) => memory.peekAll(counters.behind(charges), moment),
    adjustAll: async (charges, takenAt, moment) => memory.adjustAll(counters.behind(charges), takenAt, moment),
    resetAll: async (keys) => memory.resetAll(counters.behind(keys)),
  }
  return later
}

async function laterRates(stage: Stage): Promise<void> {
  const site = await stage.behind([rate({ ...WIDE, backend: laterBackend(stage), clock: stage.clock })])
  assert.equal((await site.ask()).headers.ratelimit, '"default";r=1;t=60')
  assert.deepEqual(await statuses(site, 2), [200, 429])
  assert.equal((await site.ask()).headers['retry-after'], '60')
}

async function laterSettles(stage: Stage): Promise<void> {
  const backend = laterBackend(stage)
  let settled = 0
  const adjusting: Backend = {
    ...backend,
    adjustAll: async (...asked) => {
      const answer = await backend.adjustAll(...asked)
      settled++
      return answer
    },
  }
  const cost = { reserve: 2, settle: async () => 1 }
  const site = await stage.behind([rate({ ...WIDE, backend: adjusting, clock: stage.clock, cost })])
  assert.equal((await site.ask()).status, 200)
  await until(() => settled === 1)
  assert.equal((await site.ask()).status, 429)
}

async function laterCaps(stage: Stage): Promise<void> {
  const watcher = new Watcher()
  const local = createInflightLimiter({ limit: 1, observers: [watcher] })
  const backend: InflightBackend = {
    acquire: async (key, options) => local.acquire(key, options) ?? FULL,
  }
  const gate = new Gate()
  const site = await stage.behind([cap({ limit: 1, backend })], gate.handler)
  const holder = site.start()
  await until(() => gate.entered === 1)
  assert.equal((await site.ask()).status, 503)
  gate.open()
  assert.equal((await holder.answer).status, 200)
  await until(() => watcher.held === 0)
  assert.equal((await site.ask()).status, 200)
}

function ratesOver(fail: Fail, watcher: Watcher, options: FailoverOptions = {}): LimiterSpec {
  const backend = failingBackend(fail)
  return rate({ ...WIDE, backend, observers: [watcher], deadlineMs: 5, ...options })
}

async function failsOver(stage: Stage, fail: Fail): Promise<void> {
  const watcher = new Watcher()
  const site = await stage.behind([ratesOver(fail, watcher)], async ({ sluice }) => {
    // late charges count too
    await sluice?.charge(1)
    return { body: `${sluice?.decision?.counted} ${sluice?.decision?.source}` }
  })
  const first = await site.ask()
  assert.deepEqual([first.body, first.headers.ratelimit], ['false local', '"default";r=1;t=60'])
  assert.deepEqual(await statuses(site, 2), [429, 429])
  assert.ok(watcher.count('backendFailed') > 0)
  assert.deepEqual(stage.warnings.codes, ['SLUICE_BACKEND_FAILED'])
}

async function failsOpen(stage: Stage, fail: Fail): Promise<void> {
  const site = await stage.behind([ratesOver(fail, new Watcher(), { onBackendError: 'allow' })])
  for (let asked = 0; asked < 3; asked++) {
    const { status, headers } = await site.ask()
    assert.deepEqual([status, headers['ratelimit-policy'], headers.ratelimit], [200, '"default";q=2;w=60', undefined])
  }
}

async function failsShut(stage: Stage, fail: Fail): Promise<void> {
  const site = await stage.behind([ratesOver(fail, new Watcher(), { onBackendError: 'deny' })])
  const { status, headers } = await site.ask()
  assert.deepEqual([status, headers['retry-after'], headers.ratelimit], [429, '1', '"default";r=0;t=1'])
}

function capsOver(fail: Fail): (watcher: Watcher) => LimiterSpec {
  return (watcher) => cap({ limit: 1, backend: { acquire: fail }, observers: [watcher] })
}

async function failing(stage: Stage, built: (watcher: Watcher) => LimiterSpec): Promise<void> {
  const watcher = new Watcher()
  const site = await stage.behind([built(watcher)], async ({ sluice }) => {
    // a handler need not check whether the request was counted
    await sluice?.charge(1)
    return { body: `${sluice?.decisions.length}` }
  })
  assert.equal((await site.ask()).body, '0')
  assert.deepEqual(await statuses(site, 2), [200, 200])
  assert.equal(watcher.count('backendFailed'), 3)
  assert.deepEqual(stage.warnings.codes, ['SLUICE_BACKEND_FAILED'])
}
