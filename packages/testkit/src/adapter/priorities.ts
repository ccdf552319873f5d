import assert from 'node:assert/strict'
import { byHeader, type Priority } from '@sluice/limiter-core'
import type { TestRunner } from '../suite-runner.ts'
import { type CapOptions, cap, type HookRequest, type LimiterSpec } from './stage/app-description.ts'
import type { Asked, Pending } from './stage/client.ts'
import type { Site, Stage } from './stage/stage.ts'
import { named, Turns } from './stage/turns.ts'
import { until } from './stage/until.ts'
import { Watcher } from './stage/watcher.ts'

/** A cap that the test observes, and an application behind it. */
export interface Prioritized {
  readonly site: Site
  readonly turns: Turns
  readonly watcher: Watcher
  /** Sends a request, and resolves when the cap has received it. */
  send(asked: Asked): Promise<Pending>
  /** Sends the request that takes the only place. */
  hold(): Promise<Pending>
}

type Place = 'the application' | 'a route'

/** Builds an application with a cap of one place, unless `options` has another limit. */
export async function prioritized(
  stage: Stage,
  options: Partial<CapOptions> = {},
  place: Place = 'the application',
): Promise<Prioritized> {
  const [turns, watcher] = [new Turns(), new Watcher()]
  let received = 0
  // what follows is synchronous, so the request has its place or waits
  const skip = (): boolean => ++received < 0
  const header = 'x-priority'
  const limits: LimiterSpec[] = [
    cap({ limit: 1, priority: { header }, skip, clock: stage.clock, observers: [watcher], ...options }),
  ]
  const site = await stage.serve(
    place === 'the application'
      ? { limits, routes: [{ path: '/', handler: turns.handler }] }
      : { limits: [], routes: [{ path: '/', limits, handler: turns.handler }] },
  )
  const send = async (asked: Asked): Promise<Pending> => {
    const before = received
    const pending = site.start(asked)
    await until(() => received > before, { what: 'a request to reach the cap' })
    return pending
  }
  const hold = async (): Promise<Pending> => {
    const pending = site.start(named('holder'))
    await turns.reached(1)
    return pending
  }
  return { site, turns, watcher, send, hold }
}

/** Requests of different importance and different clients at a full cap. */
export function priorities({ describe, test }: TestRunner, stage: Stage): void {
  describe('a cap with priorities', () => {
    test('refuses the less important requests while it is full again and again', () => refusesFirst(stage))
    for (const place of ['the application', 'a route'] as const) {
      test(`of ${place} serves waiting requests by their header, and an unknown priority as normal`, async () => {
        await ordered(stage, {}, place, ['low', 'urgent, high', 'high'])
      })
    }
    test('serves waiting requests of equal priority in the order of their arrival', () => arrivals(stage))
    test('treats a request as normal, and reports it, if its priority cannot be determined', () => broken(stage))
    test('refuses the client with the most recent usage first', () => heaviest(stage))
    test('treats a client that cannot be determined like others, and reports it', () => unknownClient(stage))
  })
}

async function refusesFirst(stage: Stage): Promise<void> {
  const { site, turns, watcher } = await prioritized(stage, { limit: 4 })
  const held = ['a', 'b', 'c', 'd'].map((name) => site.start(named(name)))
  await turns.reached(4)
  assert.equal((await site.ask(named('e', 'critical'))).status, 503)
  // the threshold is calculated every 100 ms
  stage.clock.advance(100)
  turns.finish()
  await until(() => watcher.held === 3, { what: 'a free place' })
  const { status, headers } = await site.ask(named('f', 'low'))
  assert.deepEqual([status, headers['retry-after']], [503, '1'])
  held.push(site.start(named('g', 'critical')))
  await turns.reached(5)
  assert.equal(turns.admitted.at(-1), 'g')
  await turns.finishAll(5)
  for (const { answer } of held) assert.equal((await answer).status, 200)
}

/** Sends requests with these priorities, and expects them to be served in the opposite order. */
async function ordered(
  stage: Stage,
  options: Partial<CapOptions>,
  place: Place,
  sent: readonly string[],
): Promise<Watcher> {
  const queue = { max: 9, maxWaitMs: '10s' } as const
  const { turns, watcher, send, hold } = await prioritized(stage, { queue, ...options }, place)
  const pending = [await hold()]
  for (const priority of sent) pending.push(await send(named(priority, priority)))
  await turns.finishAll(pending.length)
  for (const { answer } of pending) assert.equal((await answer).status, 200)
  assert.deepEqual(turns.admitted, ['holder', ...sent.toReversed()])
  await until(() => watcher.held === 0, { what: 'held places to come back' })
  assert.deepEqual([watcher.acquired, watcher.denied, watcher.mostHeld], [pending.length, 0, 1])
  assert.equal(stage.clock.pending, 0)
  return watcher
}

async function arrivals(stage: Stage): Promise<void> {
  const { turns, send, hold } = await prioritized(stage, { queue: { max: 9, maxWaitMs: '10s' } })
  const pending = [await hold()]
  for (const name of ['a', 'b', 'c']) pending.push(await send(named(name)))
  pending.push(await send(named('d', 'critical')))
  await turns.finishAll(5)
  for (const { answer } of pending) assert.equal((await answer).status, 200)
  assert.deepEqual(turns.admitted, ['holder', 'd', 'a', 'b', 'c'])
}

async function broken(stage: Stage): Promise<void> {
  const fails: Readonly<Record<string, () => unknown>> = {
    throws: () => {
      throw new Error('no database')
    },
    rejects: () => Promise.reject(new Error('no database')),
    number: () => Number.NaN,
    symbol: () => Symbol('odd'),
    proto: () => '__proto__',
  }
  for (const fail of Object.keys(fails)) {
    const priority = (req: HookRequest): Priority =>
      (fails[req.header('x-priority') ?? ''] ?? (() => req.header('x-priority')))() as Priority
    const watcher = await ordered(stage, { priority }, 'the application', ['low', fail, 'high'])
    assert.equal(watcher.count('hookFailed'), 1, fail)
  }
  assert.deepEqual(new Set(stage.warnings.codes), new Set(['SLUICE_HOOK_FAILED']))
}

async function heaviest(stage: Stage): Promise<void> {
  const options = { fairBy: byHeader('x-client'), queue: { max: 1, maxWaitMs: '10s' } } as const
  const { site, turns, send, hold } = await prioritized(stage, options)
  const first = site.start(named('first', 'normal', 'heavy'))
  await turns.reached(1)
  stage.clock.advance(1_000)
  turns.finish()
  assert.equal((await first.answer).status, 200)
  turns.admitted.length = 0
  const holder = await hold()
  const heavy = await send(named('again', 'normal', 'heavy'))
  const light = await send(named('light', 'normal', 'light'))
  const refused = await heavy.answer
  assert.deepEqual([refused.status, refused.headers['retry-after']], [503, '1'])
  turns.finish()
  await turns.reached(2)
  turns.finish()
  assert.deepEqual([(await holder.answer).status, (await light.answer).status], [200, 200])
  assert.deepEqual(turns.admitted, ['holder', 'light'])
}

async function unknownClient(stage: Stage): Promise<void> {
  const fairBy = (): never => {
    throw new Error('no session')
  }
  const { turns, watcher, hold } = await prioritized(stage, { fairBy })
  const holder = await hold()
  turns.finish()
  assert.equal((await holder.answer).status, 200)
  assert.equal(watcher.count('keyFallback'), 1)
  assert.deepEqual(stage.warnings.codes, ['SLUICE_KEY_FALLBACK'])
}
