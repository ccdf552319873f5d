import { expect, test } from '@jest/globals'
import { RateGate } from '@sluice/http'
import { Watcher } from '@sluice/testkit'
import { oddBackend } from '../../contracts/computed-backend.ts'
import { viewOf } from '../../keys/request-view.ts'

/**
 * A thenable like the queries of some databases: not a promise, without `catch`, and it may call back more than once.
 */
function thenable<T>(...values: readonly T[]): Promise<T> {
  // biome-ignore lint/suspicious/noThenProperty: it is one on purpose
  return { then: (resolve: (value: T) => void) => values.forEach((value) => void resolve(value)) } as never
}

test('a hook may return any thenable: its first value is used, once', async () => {
  const watcher = new Watcher()
  const guard = new RateGate({
    plans: { free: [{ limit: 10, window: '1m' }], pro: [{ limit: 100, window: '1m' }] },
    plan: () => thenable('pro', 'free'),
    key: () => thenable('ann', 'bob'),
    cost: () => thenable(3, 9),
    skip: () => thenable(false, true),
    observers: [watcher],
  })
  const check = await guard.check(viewOf())
  expect(check).toMatchObject({ keys: ['ann'], costs: [3], decision: { binding: { remaining: 97 } } })
  expect([watcher.decisions.length, watcher.events]).toEqual([1, []])
})

test('a backend may return any thenable', async () => {
  const watcher = new Watcher()
  const verdict = { shadow: false, allowed: true, remaining: 1, retryAfterMs: 0, resetAfterMs: 1 }
  const backend = oddBackend(([{ counter }]) => {
    const { policy } = counter.compiled
    const answer = { verdicts: [{ ...verdict, policy }], takenAt: 0, counted: true, source: 'odd' }
    return thenable(answer, answer)
  })
  const guard = new RateGate({ limit: 1, window: '1m', backend, observers: [watcher] })
  expect(await guard.check(viewOf())).toMatchObject({ decision: { source: 'odd' } })
  expect([watcher.decisions.length, watcher.events]).toEqual([1, []])
})
