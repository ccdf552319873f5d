import { describe, expect, test } from '@jest/globals'
import {
  createInflightLimiter,
  type InflightBackend,
  type LocalInflightOptions,
  type Permit,
} from '@sluice/limiter-core'
import { eachSeed, FakeClock } from '@sluice/testkit'

function capOf(options: Partial<LocalInflightOptions> = {}) {
  const clock = new FakeClock()
  return { clock, cap: createInflightLimiter({ limit: 3, clock, ...options }) }
}

describe('createInflightLimiter', () => {
  test('has a name and a limit', () => {
    expect(capOf().cap).toMatchObject({ name: 'inflight', limit: 3 })
    expect(capOf({ name: 'report', limit: 7 }).cap).toMatchObject({ name: 'report', limit: 7 })
  })

  test.each<[string, object, string]>([
    ['no limit', { limit: undefined }, 'SLUICE_BAD_LIMIT'],
    ['a limit of 0', { limit: 0 }, 'SLUICE_BAD_LIMIT'],
    ['a fractional limit', { limit: 1.5 }, 'SLUICE_BAD_LIMIT'],
    ['a bad name', { name: '\n' }, 'SLUICE_BAD_NAME'],
    ['a hold of -60', { maxHoldMs: -60 }, 'SLUICE_BAD_DURATION'],
    ['a hold of 0', { maxHoldMs: '0s' }, 'SLUICE_BAD_DURATION'],
    ['an unknown option', { max: 3 }, 'SLUICE_BAD_OPTION'],
    ['observers that are not an array', { observers: 'all' }, 'SLUICE_BAD_OPTION'],
  ])('rejects %s with an error code', (_, options, code) => {
    expect(() => capOf(options)).toThrow(expect.objectContaining({ code }))
  })

  test.each([0, -1, 1.5, Number.NaN, '2'])('rejects a weight of %p, and holds no permit', (weight) => {
    const { cap } = capOf()
    const attempt = () => cap.acquire('a', { weight: weight as number })
    expect(attempt).toThrow(expect.objectContaining({ code: 'SLUICE_BAD_LIMIT' }))
    expect(cap.count('a')).toBe(0)
  })

  test.each([7, null, {}])('rejects a key that is not a string: %p', (key) => {
    expect(() => capOf().cap.acquire(key as never)).toThrow(expect.objectContaining({ code: 'SLUICE_BAD_KEY' }))
  })

  test('counts hostile keys separately', () => {
    const { cap } = capOf({ limit: 1 })
    const keys = ['__proto__', 'constructor', 'a', 'a\0', '\0', 'é', 'e\u0301', '\ud800']
    expect(keys.map((key) => cap.acquire(key) !== undefined)).toEqual(keys.map(() => true))
  })

  test('releases a permit at the end of its `using` block, however the block ends', () => {
    const { cap } = capOf()
    const work = (): void => {
      using permit = cap.acquire('a')
      expect([permit !== undefined, cap.count('a')]).toEqual([true, 1])
      throw new Error('work')
    }
    expect(work).toThrow('work')
    expect(cap.count('a')).toBe(0)
  })

  test('works with `using` if no permit was granted', () => {
    const { cap } = capOf({ limit: 1 })
    cap.acquire('a')
    {
      using permit = cap.acquire('a')
      expect(permit).toBeUndefined()
    }
    expect(cap.count('a')).toBe(1)
  })
})

describe('a bounded hold', () => {
  test('uses one timer, however many permits there are', () => {
    const { cap, clock } = capOf({ limit: 1_000, maxHoldMs: '10s' })
    for (let permits = 0; permits < 1_000; permits++) {
      clock.advance(1)
      cap.acquire('a')
      expect(clock.pending).toBe(1)
    }
  })

  test('ends on the exact ms for each permit, and leaves no timer after the last permit', () =>
    eachSeed(30, (random) => {
      const { cap, clock } = capOf({ limit: 100, maxHoldMs: '10s' })
      const permits: { at: number; permit: Permit; released: boolean }[] = []
      for (let done = 0; done < 80; done++) {
        clock.advance(random.whole(700) + random.next())
        const permit = cap.acquire('a')
        if (permit) permits.push({ at: clock.now(), permit, released: false })
        const other = random.pick(permits)
        if (random.whole(3) === 0 && !other.permit.lost.aborted) {
          other.permit.release()
          other.released = true
        }
        const held = permits.filter((one) => !one.released)
        const ended = held.filter((one) => clock.now() >= one.at + 10_000)
        // one comparison for all permits: a comparison takes longer than the step
        const lost = permits.filter((one) => one.permit.lost.aborted)
        expect(lost.map(({ at }) => at)).toEqual(ended.map(({ at }) => at))
        expect(cap.count('a')).toBe(held.length - ended.length)
      }
      clock.advance(10_001)
      expect([cap.count('a'), clock.pending]).toEqual([0, 0])
    }))

  test('notifies existing listeners, and is visible to later checks', () => {
    const { cap, clock } = capOf({ maxHoldMs: '10s' })
    const [early, late] = [cap.acquire('a') as Permit, cap.acquire('a') as Permit]
    const { lost } = early
    let heard = 0
    lost.addEventListener('abort', () => heard++)
    clock.advance(10_000)
    expect([heard, late.lost.aborted, early.lost === lost]).toEqual([1, true, true])
  })

  test('is reported to observers as one release, with its duration', () => {
    const told: unknown[] = []
    const observers = [{ permitReleased: (...release: unknown[]) => told.push(release) }]
    const { cap, clock } = capOf({ maxHoldMs: '10s', observers })
    const permit = cap.acquire('a')
    clock.advance(60_000)
    permit?.release()
    expect(told).toEqual([['a', 10_000, { name: 'inflight', limit: 3 }]])
  })

  test('ends when the limiter is closed, which leaves no timer', () => {
    const { cap, clock } = capOf({ maxHoldMs: '10s' })
    cap.acquire('a')
    cap.close()
    expect(clock.pending).toBe(0)
  })

  test('may be as long as a timer', () => {
    const { cap, clock } = capOf({ maxHoldMs: 2 ** 31 - 1 })
    const permit = cap.acquire('a')
    clock.advance(24 * 86_400_000)
    expect(permit?.lost.aborted).toBe(false)
    clock.advance(86_400_000)
    expect(permit?.lost.aborted).toBe(true)
  })
})

describe('memory', () => {
  test('is not used for keys without permits', async () => {
    const { cap } = capOf()
    const keys = 200_000
    const before = await liveHeap()
    for (let key = 0; key < keys; key++) {
      const permit = cap.acquire(`some rather long key of a client ${key}`)
      permit?.release()
    }
    // a map entry and its key would be some 100 bytes each
    expect(((await liveHeap()) - before) / keys).toBeLessThan(20)
    expect(cap.count('some rather long key of a client 7')).toBe(0)
  })
})

describe('observers of a cap', () => {
  test('that throw are removed, and the permit is still granted', () => {
    let thrown = 0
    const bad = () => {
      thrown++
      throw new Error('observer')
    }
    const { cap } = capOf({ limit: 1, observers: [{ permitAcquired: bad, permitReleased: bad, capDenied: bad }] })
    const permit = cap.acquire('a')
    expect(cap.acquire('a')).toBeUndefined()
    permit?.release()
    expect([thrown, cap.count('a')]).toEqual([1, 0])
  })
})

describe('a custom backend', () => {
  const denial = { allowed: false, retryAfterMs: 1_000 } as const

  test('may return results synchronously or asynchronously', async () => {
    const now: InflightBackend = { acquire: () => denial }
    const later: InflightBackend = { acquire: async () => denial, count: async () => 3 }
    expect(createInflightLimiter({ limit: 3, backend: now }).acquire('a')).toBeUndefined()
    const promised = createInflightLimiter({ limit: 3, backend: later })
    expect(promised.acquire('a')).toBeInstanceOf(Promise)
    expect([await promised.acquire('a'), await promised.count('a')]).toEqual([undefined, 3])
  })

  test('reports 0 if it does not count', () => {
    expect(createInflightLimiter({ limit: 3, backend: { acquire: () => denial } }).count('a')).toBe(0)
  })
})

async function liveHeap(): Promise<number> {
  const { setFlagsFromString } = await import('node:v8')
  const { runInNewContext } = await import('node:vm')
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  return process.memoryUsage().heapUsed
}
