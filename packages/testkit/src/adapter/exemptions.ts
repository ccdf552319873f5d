import assert from 'node:assert/strict'
import { byIp, EXEMPT, type KeyResult } from '@sluice/limiter-core'
import type { TestRunner } from '../suite-runner.ts'
import { cap, type Handler, type HookRequest, type RateOptions, rate, slow } from './stage/app-description.ts'
import type { Asked } from './stage/client.ts'
import { ok, type Site, type Stage, statuses } from './stage/stage.ts'
import { Watcher } from './stage/watcher.ts'

const MINUTE = { window: '1m', algorithm: 'fixed-window' } as const

/** Exemptions by `skip` and by keys, which apply only to their own policies. */
export function exemptions({ describe, test }: TestRunner, stage: Stage): void {
  describe('exemption', () => {
    test('skip leaves a request uncounted and without headers, synchronous or asynchronous', () => skipped(stage))
    test('a key of EXEMPT leaves a request uncounted', () => exempt(stage))
    test('skip leaves a request uncapped', () => uncapped(stage))
    test('by the key of one policy does not exempt from the others in its list, synchronous or asynchronous', () =>
      ofOnePolicy(stage))
    test('by the key of the list applies to the policies without their own key', () => ofTheList(stage))
    test('shows handlers and clients only the policies that counted', () => shown(stage))
    test('applies to one plan if a policy of that plan exempts', () => ofOnePlan(stage))
    test('from one limiter, cap or slow-down does not apply to another', () => ofOneLimiter(stage))
    test('does not apply to a policy whose own key fails: the address is counted', () => beside(stage))
  })
}

type Key = (request: HookRequest) => KeyResult | Promise<KeyResult>

const staff: Key = (request) => (request.header('x-staff') ? EXEMPT : 'guest')
const asStaff = saying({ 'x-staff': 'yes' })

function saying(headers: Readonly<Record<string, string>>): Asked {
  return { headers }
}

/** The same, answered at once and later. */
function timings(key: Key): Key[] {
  return [key, async (request) => key(request)]
}

/** Status, and units left by policy, after one more request. */
export async function unitsLeft(site: Site, asked = {}): Promise<string> {
  const answer = await site.ask(asked)
  const items = [...(answer.headers.ratelimit ?? '').matchAll(/"([^"]+)";r=(\d+)/g)]
  return [answer.status, ...items.map(([, name, units]) => `${name} ${units}`)].join(', ')
}

async function skipped(stage: Stage): Promise<void> {
  for (const skip of [() => true, async () => true]) {
    const site = await stage.behind([rate({ limit: 1, window: '1m', skip })])
    assert.deepEqual(await statuses(site, 3), [200, 200, 200])
    assert.equal('ratelimit' in (await site.ask()).headers, false)
  }
}

async function exempt(stage: Stage): Promise<void> {
  const site = await stage.behind([rate({ limit: 1, window: '1m', key: staff })])
  assert.deepEqual(await statuses(site, 3, asStaff), [200, 200, 200])
  assert.deepEqual(await statuses(site, 2), [200, 429])
}

async function uncapped(stage: Stage): Promise<void> {
  const watcher = new Watcher()
  const site = await stage.behind([cap({ limit: 1, skip: () => true, observers: [watcher] })], ok)
  assert.equal((await site.ask()).status, 200)
  assert.equal(watcher.acquired, 0)
}

async function ofOnePolicy(stage: Stage): Promise<void> {
  for (const key of timings(staff)) {
    const policies = [
      { name: 'address', limit: 2, ...MINUTE, key: byIp<HookRequest>() },
      { name: 'guest', limit: 1, ...MINUTE, key },
    ]
    const site = await stage.behind([rate({ policies, clock: stage.clock })])
    assert.equal(await unitsLeft(site, asStaff), '200, address 1')
    assert.equal(await unitsLeft(site), '200, address 0, guest 0')
    assert.equal(await unitsLeft(site, asStaff), '429, address 0')
  }
}

async function ofTheList(stage: Stage): Promise<void> {
  const policies = [
    { name: 'minute', limit: 1, ...MINUTE },
    { name: 'address', limit: 2, ...MINUTE, key: byIp<HookRequest>() },
    { name: 'hour', limit: 1, window: '1h', algorithm: 'fixed-window' } as const,
  ]
  const site = await stage.behind([rate({ policies, key: staff, clock: stage.clock })])
  assert.equal(await unitsLeft(site, asStaff), '200, address 1')
  assert.equal(await unitsLeft(site, asStaff), '200, address 0')
  assert.equal(await unitsLeft(site, asStaff), '429, address 0')
}

async function shown(stage: Stage): Promise<void> {
  let applied: unknown
  const handler: Handler = async ({ sluice }) => {
    applied = sluice?.decisions.map(({ verdicts }) => verdicts.map(({ policy }) => policy.name))
    await sluice?.refund()
    return ok()
  }
  const policies = [
    { name: 'guest', limit: 9, ...MINUTE, key: staff },
    { name: 'address', limit: 9, ...MINUTE, key: byIp<HookRequest>() },
  ]
  const site = await stage.behind([rate({ policies, clock: stage.clock })], handler)
  const { headers } = await site.ask(asStaff)
  assert.deepEqual(applied, [['address']])
  assert.equal(headers['ratelimit-policy'], '"address";q=9;w=60')
  // the handler refunded counted units and nothing else
  assert.equal(await unitsLeft(site), '200, guest 8, address 8')
}

async function ofOnePlan(stage: Stage): Promise<void> {
  const plans = {
    free: [{ name: 'address', limit: 2, ...MINUTE }],
    pro: [
      { name: 'address', limit: 4, ...MINUTE },
      { name: 'guest', limit: 1, ...MINUTE, key: staff },
    ],
  }
  const plan = (request: HookRequest): string => (request.header('x-pro') ? 'pro' : 'free')
  const site = await stage.behind([rate({ plans, plan, clock: stage.clock } as RateOptions)])
  assert.equal(await unitsLeft(site, saying({ 'x-pro': 'yes', 'x-staff': 'yes' })), '200, address 3')
  assert.equal(await unitsLeft(site, asStaff), '200, address 0')
  assert.equal(await unitsLeft(site, saying({ 'x-pro': 'yes' })), '200, address 1, guest 0')
}

async function ofOneLimiter(stage: Stage): Promise<void> {
  const { clock } = stage
  const watcher = new Watcher()
  const limits = [
    rate({ name: 'exempt', limit: 1, ...MINUTE, key: () => EXEMPT, clock }),
    rate({ name: 'counted', limit: 2, ...MINUTE, clock }),
    slow({ after: 0, window: '1h', delayMs: 100, maxDelayMs: 100, key: () => EXEMPT, clock }),
    cap({ name: 'free', limit: 1, key: () => EXEMPT, observers: [watcher] }),
    cap({ name: 'held', limit: 1, key: () => 'all', observers: [watcher] }),
  ]
  const site = await stage.behind(limits)
  assert.equal(await unitsLeft(site), '200, counted 1')
  assert.equal(await unitsLeft(site), '200, counted 0')
  assert.equal(await unitsLeft(site), '429, counted 0')
  assert.deepEqual([watcher.acquired, watcher.released], [2, 2])
}

async function beside(stage: Stage): Promise<void> {
  const policies = [
    { name: 'guest', limit: 1, ...MINUTE, key: staff },
    { name: 'user', limit: 1, ...MINUTE, key: () => Promise.reject(new Error('no database')) },
  ]
  const site = await stage.behind([rate({ policies, clock: stage.clock })])
  assert.equal(await unitsLeft(site, asStaff), '200, user 0')
  assert.equal(await unitsLeft(site, asStaff), '429, user 0')
}
