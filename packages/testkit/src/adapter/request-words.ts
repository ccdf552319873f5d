import assert from 'node:assert/strict'
import type { RequestSluice } from '@sluice/http'
import { EXEMPT } from '@sluice/limiter-core'
import type { TestRunner } from '../suite-runner.ts'
import { cap, type Handler, type LimiterSpec, type RateOptions, rate } from './stage/app-description.ts'
import { Gate, ok, type Site, type Stage } from './stage/stage.ts'
import { until } from './stage/until.ts'
import { Watcher } from './stage/watcher.ts'

/** The API of handlers for their request. */
export function requestWords({ describe, test }: TestRunner, stage: Stage): void {
  describe('a handler', () => {
    test('can read every decision, and the binding one', () => decisions(stage))
    test('charges and refunds a policy', () => charges(stage))
    test('resets the key of a policy', () => resets(stage))
    test('bans the key under the policies that ban keys, for the stated time', () => bans(stage))
    test('can settle before the hook does, and the first settlement counts', () => settles(stage))
    test('keeps a permit until its own work is done', () => holds(stage))
  })
  describe('an invalid call by the handler', () => {
    test('for an unknown policy is warned about', () => unknownPolicy(stage))
    test('with invalid units is warned about, and responses are unaffected', () => oddUnits(stage))
  })
  describe('the request API is available', () => {
    for (const [when, limiter] of Object.entries(uncounting)) {
      test(`for a request that is ${when}`, () => present(stage, limiter))
    }
  })
}

type Speak = (sluice: RequestSluice) => unknown

const WIDE = { name: 'wide', limit: 10, window: '1m', algorithm: 'fixed-window' } as const
const TIGHT = { name: 'tight', limit: 4, window: '1m', algorithm: 'fixed-window' } as const

const uncounting: Readonly<Record<string, LimiterSpec>> = {
  skipped: rate({ ...WIDE, skip: () => true }),
  exempt: rate({ ...WIDE, key: () => EXEMPT }),
  'not limited because the limiter is off': rate({ ...WIDE, mode: 'off' }),
  'not capped because the cap is off': cap({ limit: 1, mode: 'off' }),
  'not capped because it is skipped': cap({ limit: 1, skip: () => true }),
}

function speaking(speak: Speak): Handler {
  return async ({ sluice }) => {
    assert.ok(sluice)
    await speak(sluice)
    return ok()
  }
}

/** Creates a site with two policies whose handler acts on requests with `x-speak`. */
function spoken(stage: Stage, speak: Speak, options: Partial<RateOptions> = {}): Promise<Site> {
  const limits = [rate({ policies: [WIDE, TIGHT], clock: stage.clock, ...options } as RateOptions)]
  const handler = speaking(speak)
  return stage.behind(limits, (exchange) => (exchange.request.header('x-speak') ? handler(exchange) : ok()))
}

async function speakUp(site: Site): Promise<void> {
  assert.equal((await site.ask({ headers: { 'x-speak': 'up' } })).status, 200)
}

/** Units left to the policies, in their order, after one more request. */
async function left(site: Site): Promise<number[]> {
  const { headers } = await site.ask()
  return [...(headers.ratelimit ?? '').matchAll(/;r=(\d+)/g)].map(([, units]) => Number(units))
}

async function decisions(stage: Stage): Promise<void> {
  let decided: unknown
  const limits = [rate({ ...WIDE, clock: stage.clock }), rate({ ...TIGHT, clock: stage.clock })]
  const site = await stage.behind(
    limits,
    speaking((sluice) => {
      const names = sluice.decisions.map(({ binding }) => `${binding.policy.name} ${binding.remaining}`)
      decided = [names, sluice.decision?.binding.policy.name, sluice.decision?.allowed]
    }),
  )
  await site.ask()
  assert.deepEqual(decided, [['wide 9', 'tight 3'], 'tight', true])
}

async function charges(stage: Stage): Promise<void> {
  const site = await spoken(stage, async (sluice) => {
    await sluice.charge(3, 'wide')
    await sluice.charge(1)
    await sluice.charge(-1, 'tight')
  })
  await speakUp(site)
  assert.deepEqual(await left(site), [4, 2])
  const refunding = await spoken(stage, (sluice) => sluice.refund('wide'))
  await speakUp(refunding)
  assert.deepEqual(await left(refunding), [9, 2])
}

async function resets(stage: Stage): Promise<void> {
  const site = await spoken(stage, (sluice) => sluice.reset('wide'))
  await site.ask()
  await site.ask()
  await speakUp(site)
  assert.deepEqual(await left(site), [9, 0])
}

async function bans(stage: Stage): Promise<void> {
  const ban = { after: 9, within: '1m', for: '1m', max: '10m' } as const
  const options = rate({ policies: [WIDE, { ...TIGHT, ban }], clock: stage.clock })
  const handler = speaking((sluice) => sluice.ban('7m'))
  const site = await stage.behind([options], handler)
  await speakUp(site)
  const { status, headers } = await site.ask()
  assert.deepEqual([status, headers['retry-after']], [429, '420'])
  stage.clock.advance(7 * 60_000)
  assert.equal((await site.ask()).status, 200)
  assert.deepEqual(stage.warnings.codes, [])
  const without = await spoken(stage, (sluice) => sluice.ban('7m'))
  await speakUp(without)
  assert.deepEqual(stage.warnings.codes, ['SLUICE_HOOK_FAILED'])
}

async function settles(stage: Stage): Promise<void> {
  const asked: string[] = []
  const watcher = new Watcher()
  const settle = (name: string) => () => {
    asked.push(name)
    return 0
  }
  const policies = [WIDE, TIGHT].map((one) => ({ ...one, cost: { reserve: 1, settle: settle(one.name) } }))
  const options = rate({ policies, clock: stage.clock })
  const handler = speaking(async (sluice) => {
    await sluice.settle(3, 'wide')
    await sluice.settle(9, 'wide')
  })
  const site = await stage.behind([cap({ limit: 9, observers: [watcher] }), options], handler)
  await site.ask()
  await until(() => watcher.released === 1)
  assert.deepEqual(asked, ['tight'])
  assert.deepEqual(await left(site), [6, 3])
}

async function holds(stage: Stage): Promise<void> {
  const watcher = new Watcher()
  const work = new Gate()
  let later: unknown
  const site = await stage.behind(
    [cap({ limit: 1, observers: [watcher] })],
    speaking((sluice) => {
      later = work.handler({ request: { method: 'GET', header: () => undefined }, sluice })
      sluice.holdUntil(later as Promise<unknown>)
    }),
  )
  assert.equal((await site.ask()).status, 200)
  assert.equal((await site.ask()).status, 503)
  assert.equal(watcher.held, 1)
  work.open()
  await later
  await until(() => watcher.held === 0)
  assert.equal((await site.ask()).status, 200)
}

async function unknownPolicy(stage: Stage): Promise<void> {
  const site = await spoken(stage, (sluice) => sluice.charge(1, 'wied'))
  await speakUp(site)
  assert.deepEqual(stage.warnings.codes, ['SLUICE_UNKNOWN_POLICY'])
}

async function oddUnits(stage: Stage): Promise<void> {
  const site = await spoken(stage, async (sluice) => {
    await sluice.charge(Number.NaN)
    await sluice.charge('many' as never)
    await sluice.settle(-1)
  })
  await speakUp(site)
  assert.deepEqual(await left(site), [8, 2])
  assert.deepEqual(stage.warnings.codes, ['SLUICE_HOOK_FAILED', 'SLUICE_HOOK_FAILED'])
}

async function present(stage: Stage, limiter: LimiterSpec): Promise<void> {
  const work = Promise.resolve()
  const site = await stage.behind(
    [limiter],
    speaking(async (sluice) => {
      assert.deepEqual([sluice.decisions, sluice.decision], [[], undefined])
      await Promise.all([sluice.charge(1), sluice.refund(), sluice.reset(), sluice.settle(1)])
      sluice.holdUntil(work)
    }),
  )
  assert.equal((await site.ask()).status, 200)
}
