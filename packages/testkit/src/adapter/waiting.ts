import assert from 'node:assert/strict'
import { type AdaptiveLimit, byHeader } from '@sluice/limiter-core'
import type { TestRunner } from '../suite-runner.ts'
import { prioritized } from './priorities.ts'
import { cap, rate } from './stage/app-description.ts'
import { type Stage, statuses } from './stage/stage.ts'
import { named, Turns } from './stage/turns.ts'
import { until } from './stage/until.ts'
import { Watcher } from './stage/watcher.ts'

const QUEUE = { max: 1, maxWaitMs: '10s' } as const
const MAX_WAIT_MS = 10_000

/** Requests that wait for a place, and limits that are learned. */
export function waiting({ describe, test }: TestRunner, stage: Stage): void {
  describe('a request that waits for a place', () => {
    test('leaves at once if its client disconnects: its place is free, and its handler never runs', () => left(stage))
    test('is refused once, with Retry-After, when its time is over', () => overdue(stage))
    test('is refused at once if the queue is full', () => full(stage))
    test('holds the places of the caps before it, and gives them back if it is refused', () => inRow(stage))
    test('does not exist in shadow: nothing is delayed, and nothing is refused', () => shadow(stage))
    test('does not exist if it is skipped: it takes no place', () => skipped(stage))
  })
  describe('a limit that is learned', () => {
    test('applies to each key, and is reported the work of each request', () => learned(stage))
  })
}

async function left(stage: Stage): Promise<void> {
  const { turns, watcher, send, hold } = await prioritized(stage, { queue: QUEUE })
  const holder = await hold()
  const gone = await send(named('gone'))
  assert.equal(stage.clock.pending, 1)
  gone.abort()
  await until(() => stage.clock.pending === 0, { what: 'the end of the wait' })
  // a full queue would refuse it, because it is not more important
  const here = await send(named('here'))
  await turns.finishAll(2)
  assert.deepEqual([(await holder.answer).status, (await here.answer).status], [200, 200])
  assert.deepEqual(turns.admitted, ['holder', 'here'])
  await until(() => watcher.held === 0, { what: 'held places to come back' })
  const { acquired, denied, left } = watcher
  assert.deepEqual(
    { acquired, denied, left, pending: stage.clock.pending },
    { acquired: 2, denied: 0, left: 1, pending: 0 },
  )
}

async function overdue(stage: Stage): Promise<void> {
  const { turns, watcher, send, hold } = await prioritized(stage, { queue: QUEUE })
  const holder = await hold()
  const late = await send(named('late'))
  stage.clock.advance(MAX_WAIT_MS - 1)
  assert.deepEqual([watcher.denied, stage.clock.pending], [0, 1])
  stage.clock.advance(1)
  const { status, headers, body } = await late.answer
  // a repeated field would be a list
  assert.deepEqual([status, headers['retry-after'], headers['cache-control']], [503, '1', 'no-store'])
  assert.deepEqual(JSON.parse(body)['violated-policies'], ['inflight'])
  turns.finish()
  assert.equal((await holder.answer).status, 200)
  assert.deepEqual([turns.admitted, watcher.denied, stage.clock.pending], [['holder'], 1, 0])
}

async function full(stage: Stage): Promise<void> {
  const { site, turns, send, hold } = await prioritized(stage, { queue: QUEUE })
  const pending = [await hold(), await send(named('second'))]
  assert.deepEqual(await statuses(site, 2, named('third')), [503, 503])
  await turns.finishAll(2)
  for (const { answer } of pending) assert.equal((await answer).status, 200)
}

async function inRow(stage: Stage): Promise<void> {
  const [turns, outer, inner] = [new Turns(), new Watcher(), new Watcher()]
  const { clock } = stage
  const site = await stage.behind(
    [
      rate({ limit: 9, window: '1m', algorithm: 'fixed-window', clock }),
      cap({ name: 'outer', limit: 5, priority: { header: 'x-priority' }, clock, observers: [outer] }),
      cap({ name: 'inner', limit: 1, queue: QUEUE, clock, observers: [inner] }),
    ],
    turns.handler,
  )
  const holder = site.start(named('holder'))
  await turns.reached(1)
  const gone = site.start(named('gone'))
  await until(() => clock.pending === 1, { what: 'a request that waits' })
  const { status, headers, body } = await site.ask(named('refused'))
  assert.deepEqual([status, headers['retry-after']], [503, '1'])
  assert.deepEqual(JSON.parse(body)['violated-policies'], ['inner'])
  await until(() => outer.held === 2, { what: 'the place of the refused request to come back' })
  gone.abort()
  await until(() => outer.held === 1 && clock.pending === 0, { what: 'the place of the waiting request to come back' })
  turns.finish()
  assert.equal((await holder.answer).status, 200)
  await until(() => outer.held + inner.held === 0, { what: 'held places to come back' })
  assert.deepEqual([outer.acquired, outer.released, inner.acquired, inner.released], [3, 3, 1, 1])
  assert.deepEqual(turns.admitted, ['holder'])
}

async function shadow(stage: Stage): Promise<void> {
  const { site, turns, watcher } = await prioritized(stage, { queue: QUEUE, mode: 'shadow' })
  const pending = ['a', 'b', 'c'].map((name) => site.start(named(name)))
  await turns.reached(3)
  assert.deepEqual([watcher.held, watcher.denied, stage.clock.pending], [1, 2, 0])
  await turns.finishAll(3)
  for (const { answer } of pending) assert.equal((await answer).status, 200)
}

async function skipped(stage: Stage): Promise<void> {
  const skip = (req: { header(name: string): string | undefined }): boolean => req.header('x-name') === 'skipped'
  const { site, turns, watcher, hold } = await prioritized(stage, { queue: QUEUE, skip })
  const pending = [await hold(), site.start(named('skipped', 'sheddable'))]
  await turns.reached(2)
  assert.deepEqual([watcher.held, watcher.denied, stage.clock.pending], [1, 0, 0])
  await turns.finishAll(2)
  for (const { answer } of pending) assert.equal((await answer).status, 200)
}

/** A learned limit of 2 for the key `a`, and 1 for others. */
class TwoForA implements AdaptiveLimit {
  readonly min = 1
  readonly max = 2
  readonly initial = 1
  /** The work that has ended. */
  readonly ended: string[] = []

  open(): ReturnType<AdaptiveLimit['open']> {
    return {
      limitOf: (key) => (key.endsWith('a') ? 2 : 1),
      begin: (key, request) => (outcome) => void this.ended.push(`${key.slice(-1)} ${request?.weight} ${outcome}`),
    }
  }
}

async function learned(stage: Stage): Promise<void> {
  const [limit, key] = [new TwoForA(), byHeader('x-key')]
  const { site, turns, watcher } = await prioritized(stage, { limit, key })
  const pending = ['a', 'a', 'b'].map((name) => site.start({ headers: { 'x-key': name } }))
  await turns.reached(3)
  for (const [name, places] of Object.entries({ a: 2, b: 1 })) {
    const { status, headers } = await site.ask({ headers: { 'x-key': name } })
    assert.deepEqual([status, headers['ratelimit-policy']], [503, `"inflight";q=${places};qu="concurrent-requests"`])
  }
  stage.clock.advance(30)
  await turns.finishAll(3)
  for (const { answer } of pending) assert.equal((await answer).status, 200)
  await until(() => watcher.held === 0, { what: 'held places to come back' })
  assert.deepEqual(limit.ended.sort(), ['a 1 success', 'a 1 success', 'b 1 success'])
}
