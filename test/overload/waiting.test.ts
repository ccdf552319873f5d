import { describe, expect, test } from '@jest/globals'
import {
  type AcquireOptions,
  createInflightLimiter,
  type InflightLimiterOptions,
  type Permit,
} from '@sluice/limiter-core'
import { prioritizedInflight } from '@sluice/overload'
import { FakeClock } from '@sluice/testkit'

interface Waiting {
  readonly order: string[]
  readonly clock: FakeClock
  ask(name: string, options?: AcquireOptions): Promise<Permit | undefined>
  count(): number
}

function roomFor(limit: number, max = 3, maxWaitMs = 100): Waiting {
  const clock = new FakeClock()
  const backend = prioritizedInflight({ queue: { max, maxWaitMs }, clock })
  const cap = createInflightLimiter({ limit, backend, clock })
  const order: string[] = []
  return {
    order,
    clock,
    async ask(name, options) {
      const permit = await cap.acquire('', options)
      order.push(permit ? name : `not ${name}`)
      return permit
    },
    count: () => cap.count() as number,
  }
}

/** Lets promises that are due settle. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await undefined
}

describe('a cap with a queue', () => {
  test('admits in the order of arrival when places become free', async () => {
    const { ask, order } = roomFor(1)
    const first = await ask('first')
    const second = ask('second')
    const third = ask('third')
    first?.release()
    ;(await second)?.release()
    await third
    expect(order).toEqual(['first', 'second', 'third'])
  })

  test('admits the more important first, and refuses the least important if the queue is full', async () => {
    const { ask, order } = roomFor(1)
    const first = await ask('first')
    for (const priority of ['low', 'normal', 'high', 'critical'] as const)
      ask(priority, { priority }).then((permit) => permit?.release())
    await settled()
    expect(order).toEqual(['first', 'not low'])
    first?.release()
    await settled()
    expect(order).toEqual(['first', 'not low', 'critical', 'high', 'normal'])
  })

  test('refuses what has waited for maxWaitMs', async () => {
    const { ask, order, clock } = roomFor(1)
    await ask('first')
    ask('second')
    clock.advance(99)
    await settled()
    expect(order).toEqual(['first'])
    clock.advance(1)
    await settled()
    expect(order).toEqual(['first', 'not second'])
  })

  test('removes a client that has left at once, and the next one that fits takes its turn', async () => {
    const { ask, order, count } = roomFor(4)
    await ask('first', { weight: 3 })
    const left = new AbortController()
    ask('heavy', { weight: 4, signal: left.signal })
    ask('light')
    await settled()
    expect(order).toEqual(['first'])
    left.abort()
    await settled()
    expect(order).toEqual(['first', 'not heavy', 'light'])
    expect(count()).toBe(4)
  })

  test('serves the latest first, and what is old not at all, while it has not been empty for maxWaitMs', async () => {
    const { ask, order, clock } = roomFor(1, 10)
    // so that five requests are not many
    for (let request = 0; request < 100; request++) (await ask(''))?.release()
    order.length = 0
    const first = await ask('first')
    const a = ask('a')
    clock.advance(60)
    ask('b')
    first?.release()
    const held = await a
    clock.advance(30)
    ask('c').then((permit) => permit?.release())
    clock.advance(15)
    ask('d').then((permit) => permit?.release())
    await settled()
    expect(order).toEqual(['first', 'a', 'not b'])
    held?.release()
    await settled()
    expect(order).toEqual(['first', 'a', 'not b', 'd', 'c'])
  })

  test('refuses all that wait when it closes', async () => {
    const clock = new FakeClock()
    const backend = prioritizedInflight({ queue: { max: 2, maxWaitMs: '1s' }, clock })
    const cap = createInflightLimiter({ limit: 1, backend, clock })
    await cap.acquire()
    const waiting = cap.acquire()
    backend.close?.()
    expect(await waiting).toBeUndefined()
    expect(clock.pending).toBe(0)
  })
})

test('caps with different names on one backend are counted separately, each with its own maxHoldMs', () => {
  const clock = new FakeClock()
  const backend = prioritizedInflight({ clock })
  const [short, long] = ['1s', '1m'].map((maxHoldMs) => {
    return createInflightLimiter({ name: maxHoldMs, limit: 1, maxHoldMs, backend, clock } as InflightLimiterOptions)
  })
  expect([short.acquire(), long.acquire()]).not.toContain(undefined)
  expect([short.count(), long.count()]).toEqual([1, 1])
  clock.advance(1_000)
  expect([short.count(), long.count()]).toEqual([0, 1])
  clock.advance(59_000)
  expect([short.count(), long.count()]).toEqual([0, 0])
})

test.each([
  [{ queue: { max: 0, maxWaitMs: 100 } }, 'queue.max: expected an integer from 1'],
  [{ queue: { max: 1, maxWaitMs: 'soon' } }, 'queue.maxWaitMs'],
  [{ queue: { max: 1 } }, 'queue.maxWaitMs'],
  [{ prioritizer: {} }, 'prioritizer: expected the result of createPrioritizer()'],
  [{ queues: {} }, 'prioritizedInflight: expected queue, received an unknown option'],
])('prioritizedInflight(%j) is refused', (options, message) => {
  expect(() => prioritizedInflight(options as never)).toThrow(message)
})
