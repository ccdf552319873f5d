import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { RateGate, type RateLimitOptions } from '@sluice/http'
import { type Backend, memoryBackend, type Observer } from '@sluice/limiter-core'
import { eachSeed, FakeClock } from '@sluice/testkit'
import { algorithmNames } from '../algorithms/any-policy.ts'
import { viewOf } from '../keys/request-view.ts'
import { endedAfterEach } from '../services/for-tests.ts'

interface Raw {
  readonly limit?: unknown
  readonly window?: unknown
}

let clock: FakeClock
let backend: Backend
let open: number
let failures: unknown[]
const gates = endedAfterEach<RateGate<Raw, unknown>>((gate) => gate.close())

beforeEach(() => {
  clock = new FakeClock()
  open = 0
  failures = []
  const memory = memoryBackend({ clock })
  backend = {
    ...memory,
    name: 'counting opened counters',
    open: (...args) => {
      open++
      const counter = memory.open(...args)
      return Object.assign(Object.create(counter), {
        take: counter.take.bind(counter),
        close: () => {
          open--
          counter.close?.()
        },
      })
    },
    takeAll: memory.takeAll.bind(memory),
    peekAll: memory.peekAll.bind(memory),
    adjustAll: memory.adjustAll.bind(memory),
    resetAll: memory.resetAll.bind(memory),
  }
})

afterEach(() => {
  expect(open).toBe(0)
})

function gateOf(options: Partial<RateLimitOptions<Raw, unknown>>): RateGate<Raw, unknown> {
  const observer: Observer = { event: (name, { error }) => name === 'hookFailed' && failures.push(error) }
  const policy = { limit: (raw: Raw) => raw.limit as number, window: '1h', key: () => 'one', backend, clock }
  const gate = new RateGate<Raw, unknown>({ ...policy, observers: [observer], ...options } as never)
  gates.push(gate)
  return gate
}

async function admits(gate: RateGate<Raw, unknown>, raw: Raw): Promise<boolean> {
  return (await gate.check(viewOf({ raw })))?.decision.allowed === true
}

async function limitShown(gate: RateGate<Raw, unknown>, raw: Raw): Promise<number | undefined> {
  return (await gate.check(viewOf({ raw })))?.decision.binding.policy.limit
}

describe.each(algorithmNames)('limits of requests with %s', (algorithm) => {
  test('are compared with one count of the key', async () => {
    await eachSeed(10, async (random) => {
      const gate = gateOf({ algorithm, scope: `seed-${random.next()}` })
      // the count of gcra is a time: a unit of a smaller limit is a longer one
      const sizeOf = (limit: number): number => (algorithm === 'gcra' ? 1 / limit : 1)
      let used = 0
      for (let step = 0; step < 60; step++) {
        const limit = 1 + random.whole(40)
        const allowed = await admits(gate, { limit })
        const fits = used + sizeOf(limit) <= limit * sizeOf(limit) + 1e-9
        expect([step, limit, used, allowed]).toEqual([step, limit, used, fits])
        if (allowed) used += sizeOf(limit)
      }
    })
  })
})

describe('a limit that is a function', () => {
  test('may return any number of different limits, while at most some thousand counters are open', async () => {
    const gate = gateOf({ algorithm: 'fixed-window' })
    for (let limit = 1; limit <= 20_000; limit++) await admits(gate, { limit: 1_000_000 + limit })
    expect(open).toBeLessThan(1_300)
    for (const limit of [27, 270_001, 123_456_789_012]) {
      const shown = await limitShown(gate, { limit })
      expect(shown).toBeLessThanOrEqual(limit)
      expect(shown).toBeGreaterThan(limit / 2)
    }
  })

  test('that exceeds the capacity of a log applies the smallest limit so far', async () => {
    const gate = gateOf({ algorithm: 'sliding-log' })
    expect(await limitShown(gate, { limit: 20 })).toBe(20)
    expect(await limitShown(gate, { limit: 129 })).toBe(20)
    expect(failures).toHaveLength(1)
  })

  test('counts in this process, with the same limits, while the backend is unavailable', async () => {
    const broken: Backend = { ...backend, takeAll: () => Promise.reject(new Error('unreachable')) }
    broken.open = (...args) => {
      const counter = backend.open(...args)
      return Object.assign(counter, { take: () => Promise.reject(new Error('unreachable')) })
    }
    const gate = gateOf({ algorithm: 'fixed-window', backend: broken })
    const allowed: boolean[] = []
    for (const limit of [2, 2, 2, 3, 3]) allowed.push(await admits(gate, { limit }))
    expect(allowed).toEqual([true, true, false, true, false])
  })
})

describe('a window that is a function', () => {
  test('has at most 100 different results; further ones apply the longest window so far', async () => {
    const gate = gateOf({ limit: 5, window: (raw) => raw.window as number })
    for (let seconds = 1; seconds <= 150; seconds++) await admits(gate, { window: seconds * 1_000 })
    expect(failures.length).toBeGreaterThanOrEqual(49)
    expect(open).toBeLessThanOrEqual(102)
    const check = await gate.check(viewOf({ raw: { window: 500_000 } }))
    expect(check?.decision.binding.policy.windowMs).toBe(100_000)
  })

  test('combines with a limit that is a function', async () => {
    const gate = gateOf({ window: (raw) => raw.window as number })
    const allowed: boolean[] = []
    for (const [limit, window] of [
      [1, '1m'],
      [1, '1m'],
      [1, '2m'],
      [2, '1m'],
      [2, '2m'],
      [2, '2m'],
    ])
      allowed.push(await admits(gate, { limit, window }))
    expect(allowed).toEqual([true, false, true, true, true, false])
  })

  test('cannot be combined with a calendar', () => {
    const options = { limit: 5, window: () => '1d', calendar: { per: 'day', timezone: 'UTC' } }
    expect(() => gateOf(options as never)).toThrow(/SLUICE_BAD_OPTION.*window/)
  })
})
