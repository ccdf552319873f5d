import assert from 'node:assert/strict'
import type { CostSource, CountOnly } from '@sluice/http/shared'
import { memoryBackend } from '@sluice/limiter-core'
import type { TestRunner } from '../../suite-runner.ts'
import {
  cap,
  type Handler,
  type HookRequest,
  type HookResponse,
  type LimiterSpec,
  rate,
} from '../stage/app-description.ts'
import { Gate, type Site, type Stage, statuses } from '../stage/stage.ts'
import { until } from '../stage/until.ts'
import { Watcher } from '../stage/watcher.ts'

type Cost = CostSource<HookRequest, HookResponse>

/** Costs of requests, initial and final. */
export function costs({ describe, test }: TestRunner, stage: Stage): void {
  describe('a cost', () => {
    test('is the result of its function, synchronous or asynchronous', () => byFunction(stage))
    test('of 0 checks without taking', () => free(stage))
    test('may differ for each policy', () => eachItsOwn(stage))
  })
  describe('a plan', () => {
    test('limits the clients that have it, and used units are kept when the plan changes', () => plans(stage))
  })
  describe('countOnly', () => {
    test("of 'failures' counts responses with a status of 400 or higher", () => countedOnly(stage, 'failures'))
    test("of 'successes' counts the others", () => countedOnly(stage, 'successes'))
    test('keeps the cost of a request whose client disconnects', () => countedAborts(stage))
  })
  describe('a reserved cost', () => {
    test('is refunded by settle, so that only failed logins count', () => failedLogins(stage))
    test('is raised by settle to the actual cost', () => raised(stage))
    test('stays if settle returns undefined', () => keptByUndefined(stage))
    test('stays when the client disconnects', () => aborted(stage))
    test("is settled when the client disconnects if settleOn is 'always'", () => abortedAlways(stage))
    test('is also settled for a request that a later limiter denies', () => deniedLater(stage))
  })
}

function costing(stage: Stage, limit: number, cost: Cost): LimiterSpec {
  return rate({ limit, window: '1m', algorithm: 'fixed-window', clock: stage.clock, cost })
}

async function left(site: Site, headers: Readonly<Record<string, string>> = {}): Promise<string | undefined> {
  return (await site.ask({ headers })).headers.ratelimit?.split(';')[1]
}

async function countedOnly(stage: Stage, countOnly: CountOnly): Promise<void> {
  const limited = rate({ limit: 10, window: '1m', algorithm: 'fixed-window', clock: stage.clock, cost: 2, countOnly })
  const answering: Handler = ({ request }) => ({ status: Number(request.header('x-status')), body: 'done' })
  const site = await stage.behind([limited], answering)
  const counted = countOnly === 'failures' ? ['400', '503'] : ['200', '302']
  for (const status of ['200', '302', '400', '503']) {
    assert.equal((await site.ask({ headers: { 'x-status': status } })).status, Number(status))
  }
  assert.equal(await left(site, { 'x-status': counted[0] }), 'r=4')
}

async function countedAborts(stage: Stage): Promise<void> {
  const gate = new Gate()
  const watcher = new Watcher()
  const limited = rate({ limit: 10, window: '1m', clock: stage.clock, countOnly: 'failures' })
  const site = await stage.behind([cap({ limit: 5, observers: [watcher] }), limited], gate.handler)
  const pending = site.start()
  await until(() => gate.entered === 1)
  pending.abort()
  await until(() => watcher.released === 1)
  gate.open()
  assert.equal(await left(site), 'r=8')
}

async function byFunction(stage: Stage): Promise<void> {
  const units = (req: HookRequest): number => Number(req.header('x-units'))
  for (const cost of [units, async (req: HookRequest) => units(req), { reserve: units, settle: () => undefined }]) {
    const site = await stage.behind([costing(stage, 10, cost)])
    assert.equal(await left(site, { 'x-units': '7' }), 'r=3')
    assert.equal((await site.ask({ headers: { 'x-units': '4' } })).status, 429)
    assert.equal(await left(site, { 'x-units': '2.5' }), 'r=0')
  }
}

async function free(stage: Stage): Promise<void> {
  const site = await stage.behind([costing(stage, 1, () => 0)])
  assert.deepEqual(await statuses(site, 3), [200, 200, 200])
  assert.equal(await left(site), 'r=1')
}

async function eachItsOwn(stage: Stage): Promise<void> {
  const policies = [
    { name: 'requests', limit: 10, window: '1s', algorithm: 'fixed-window' },
    { name: 'tokens', limit: 1_000, window: '1m', algorithm: 'fixed-window', unit: 'tokens', cost: 300 },
  ] as const
  const site = await stage.behind([rate({ policies, clock: stage.clock })])
  const { headers } = await site.ask()
  assert.equal(headers.ratelimit, '"requests";r=9;t=1, "tokens";r=700;t=60')
  assert.equal(headers['ratelimit-policy'], '"requests";q=10;w=1, "tokens";q=1000;qu="tokens";w=60')
}

async function plans(stage: Stage): Promise<void> {
  const of = (limit: number) => [{ name: 'api', limit, window: '1m', algorithm: 'fixed-window' }] as const
  const site = await stage.behind([
    rate({
      plans: { free: of(2), pro: of(5) },
      plan: async (req) => req.header('x-plan'),
      clock: stage.clock,
    }),
  ])
  assert.deepEqual(await statuses(site, 3, { headers: { 'x-plan': 'free' } }), [200, 200, 429])
  const pro = await site.ask({ headers: { 'x-plan': 'pro' } })
  assert.equal(`${pro.status} ${pro.headers.ratelimit}`, '200 "api";r=2;t=60')
}

async function failedLogins(stage: Stage): Promise<void> {
  let settled = 0
  const settle = (_req: HookRequest, res: HookResponse): number => {
    settled++
    return res.statusCode === 401 ? 1 : 0
  }
  const site = await stage.behind([costing(stage, 2, { reserve: 1, settle })], login)
  for (const [index, password] of ['right', 'right', 'wrong', 'right', 'wrong'].entries()) {
    const { status } = await site.ask({ headers: { 'x-password': password } })
    assert.equal(status, password === 'right' ? 200 : 401)
    await until(() => settled === index + 1)
  }
  assert.equal((await site.ask({ headers: { 'x-password': 'right' } })).status, 429)
}

const login: Handler = ({ request }) => ({ status: request.header('x-password') === 'right' ? 200 : 401, body: '' })

async function raised(stage: Stage): Promise<void> {
  let completed: boolean | undefined
  const site = await stage.behind([
    costing(stage, 10, {
      reserve: 1,
      settle: async (_req, _res, how) => {
        completed = how.completed && how.durationMs >= 0
        return 6
      },
    }),
  ])
  assert.equal(await left(site), 'r=9')
  await until(() => completed === true)
  assert.equal(await left(site), 'r=3')
}

async function keptByUndefined(stage: Stage): Promise<void> {
  let settled = false
  const settle = (): undefined => {
    settled = true
  }
  const site = await stage.behind([costing(stage, 10, { reserve: 4, settle })])
  await site.ask()
  await until(() => settled)
  assert.equal(await left(site), 'r=2')
}

/** Sends a request and disconnects before the response; resolves when its end has been handled. */
async function hangUp(stage: Stage, cost: Cost): Promise<{ site: Site; gate: Gate }> {
  const watcher = new Watcher()
  const gate = new Gate()
  const site = await stage.behind([cap({ limit: 9, observers: [watcher] }), costing(stage, 10, cost)], gate.handler)
  const pending = site.start()
  await until(() => gate.entered === 1)
  pending.abort()
  await until(() => watcher.released === 1)
  gate.open()
  return { site, gate }
}

async function aborted(stage: Stage): Promise<void> {
  let settled = 0
  const settle = (): number => {
    settled++
    return 0
  }
  const { site } = await hangUp(stage, { reserve: 5, settle })
  assert.equal(settled, 0)
  assert.equal(await left(site), 'r=0')
}

async function abortedAlways(stage: Stage): Promise<void> {
  const completions: boolean[] = []
  const settle = (_req: HookRequest, _res: HookResponse, { completed }: { completed: boolean }): number => {
    completions.push(completed)
    return 0
  }
  const { site } = await hangUp(stage, { reserve: 5, settle, settleOn: 'always' })
  assert.deepEqual(completions, [false])
  assert.equal(await left(site), 'r=5')
}

async function deniedLater(stage: Stage): Promise<void> {
  const backend = memoryBackend({ clock: stage.clock })
  const seen: number[] = []
  const settle = (_req: HookRequest, res: HookResponse): number => {
    seen.push(res.statusCode)
    return 0
  }
  const first = rate({ name: 'first', limit: 2, window: '1m', backend, cost: { reserve: 1, settle } })
  const second = rate({ name: 'second', limit: 1, window: '1m', backend })
  const site = await stage.behind([first, second])
  for (const status of [200, 429, 429, 429]) {
    assert.equal((await site.ask()).status, status)
    await until(() => seen.at(-1) === status)
    seen.length = 0
  }
}
