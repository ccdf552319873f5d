import { beforeEach, describe, expect, jest, test } from '@jest/globals'
import { InflightGate, RateGate } from '@sluice/http'
import {
  byAll,
  byHeader,
  byPrincipal,
  DENY,
  EXEMPT,
  type KeyResult,
  type KeySource,
  type RequestView,
} from '@sluice/limiter-core'
import { resetWarnings } from '@sluice/limiter-core/backend'
import { Watcher } from '@sluice/testkit'
import fc from 'fast-check'
import { viewOf } from './request-view.ts'

const SIGNS = { origin: 'https://page.test', 'access-control-request-method': 'GET' }
const preflight = viewOf({ method: 'OPTIONS', headers: SIGNS })
const request = viewOf()
const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})

beforeEach(() => {
  resetWarnings()
  warned.mockClear()
})

/** The key under which a rate counts, and the key under which a cap counts. */
async function counted(key: KeySource, view: RequestView): Promise<(string | undefined)[]> {
  const acquired: string[] = []
  const rate = new RateGate({ limit: 9, window: '1m', key })
  const cap = new InflightGate({ limit: 9, key, observers: [{ permitAcquired: (one) => acquired.push(one) }] })
  const check = await rate.check(view)
  await cap.check(view)
  return [check?.keys[0], acquired[0]]
}

describe('the key of a preflight', () => {
  // includes the prefixes of the preflight keys and of the fallbacks
  const text = fc.oneof(
    fc.string({ unit: fc.constantFrom('\0', 'preflight', 'address', ':', 'a', '1', '\ud800'), maxLength: 5 }),
    fc.string(),
  )
  const named = fc.oneof(
    text.map((key) => () => key),
    fc.integer().map((key) => () => key),
    text.map((value) => byHeader('x-junk', { missing: value.length % 2 ? 'address' : 'deny' })),
    fc.array(text, { minLength: 1, maxLength: 3 }).map((keys) => byAll(...keys.map((key) => () => key))),
    fc.constant(byPrincipal(() => null)),
    fc.constant(() => undefined),
  )

  test('differs from the key of any request, whatever key sources return', async () => {
    await fc.assert(
      fc.asyncProperty(named, named, async (asking, other) => {
        const keys = await counted(asking as KeySource, preflight)
        const others = await counted(other as KeySource, request)
        for (const key of keys) {
          expect(key).toMatch(/^\0preflight:/)
          expect(others).not.toContain(key)
        }
      }),
      { numRuns: 500 },
    )
  })

  test('is different for every key', async () => {
    await fc.assert(
      fc.asyncProperty(text, text, async (one, other) => {
        const [[a], [b]] = [await counted(() => one, preflight), await counted(() => other, preflight)]
        expect(a === b).toBe(one === other)
      }),
    )
  })

  test('of a cap without a key is the same for the whole process', async () => {
    const acquired: string[] = []
    const cap = new InflightGate({ limit: 1, observers: [{ permitAcquired: (key) => acquired.push(key) }] })
    const checks = [await cap.check(preflight), await cap.check(request), await cap.check(preflight)]
    expect(acquired).toEqual(['\0preflight:', ''])
    expect(checks.map((check) => check?.denial?.status)).toEqual([undefined, undefined, 503])
    expect([cap.limiter.count(), cap.limiter.count('\0preflight:')]).toEqual([1, 1])
  })
})

describe('a preflight', () => {
  const sources: readonly [string, KeySource<never>][] = [
    ['lacks the header', byHeader('x-user', { missing: 'deny' })],
    ['lacks a part', byAll(byHeader('x-user', { missing: 'deny' }))],
    ['has no signed-in user', byPrincipal((req: { user: { id: string } }) => req.user.id)],
    ['has no result of its key function', () => undefined],
  ]

  test.each(sources)('is counted by address if it %s, without a warning', async (_what, key) => {
    const watcher = new Watcher()
    const guard = new RateGate({ limit: 1, window: '1m', key: key as KeySource, observers: [watcher] })
    const [first, second] = [await guard.check(preflight), await guard.check(preflight)]
    expect([first?.denial, second?.denial?.status]).toEqual([undefined, 429])
    expect(first?.keys[0]).toContain('\0address:203.0.113.7')
    expect([watcher.count('keyFallback'), warned.mock.calls]).toEqual([0, []])
  })

  test('has no plan, cost or weight if headers are missing, without a warning', async () => {
    const watcher = new Watcher()
    const observers = [watcher]
    const lacking = (): never => {
      throw new TypeError('no user')
    }
    const plans = { free: [{ limit: 1, window: '1m' }], pro: [{ limit: 9, window: '1m' }] } as const
    const guard = new RateGate({ plans, plan: lacking, cost: lacking, skip: lacking, observers })
    const unknown = new RateGate({ plans, plan: () => 'gold', observers })
    const cap = new InflightGate({ limit: 1, weight: lacking, skip: lacking, observers })
    for (const rate of [guard, unknown]) {
      expect((await rate.check(preflight))?.denial).toBeUndefined()
      expect((await rate.check(preflight))?.denial?.status).toBe(429)
    }
    expect((await cap.check(preflight))?.permit).toBeDefined()
    expect([watcher.count('hookFailed'), warned.mock.calls]).toEqual([0, []])
    await guard.check(request)
    expect(watcher.count('hookFailed')).toBe(3)
  })

  test.each<[string, KeyResult, number | undefined]>([
    ['is denied if a function returns DENY', DENY, 429],
    ['is exempt if a function returns EXEMPT', EXEMPT, undefined],
  ])('%s', async (_what, says, status) => {
    const guard = new RateGate({ limit: 1, window: '1m', key: () => says })
    expect((await guard.check(preflight))?.denial?.status).toBe(status)
  })

  test('is peeked at, refunded and reset under the key that observers see', async () => {
    const keys: string[] = []
    const observers = [{ decided: (key: string) => keys.push(key) }]
    const guard = new RateGate({ limit: 2, window: '1m', key: () => 'ann', observers })
    await guard.check(preflight)
    const limiter = guard.limiter()
    const left = async (key: string): Promise<number> => (await limiter.peek(key)).binding.remaining
    expect([await left(keys[0]), await left('ann')]).toEqual([1, 2])
    await limiter.charge(keys[0], -1)
    expect(await left(keys[0])).toBe(2)
    await guard.check(preflight)
    await limiter.reset(keys[0])
    expect(await left(keys[0])).toBe(2)
  })

  test('has its own partition key', async () => {
    const guard = new RateGate({ limit: 1, window: '1m', key: () => 'ann', partitionKey: { secret: 'secret' } })
    const pk = async (view: RequestView): Promise<string> =>
      (await guard.check(view))?.entries[0].rateItems.match(/pk=:(.+):/)?.[1] ?? ''
    const [asked, requested] = [await pk(preflight), await pk(request)]
    expect(asked).toMatch(/^[\w+/]{12}$/)
    expect(asked).not.toBe(requested)
  })
})
