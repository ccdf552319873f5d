import { describe, expect, test } from '@jest/globals'
import { type Backend, type Charge, type Clock, memoryBackend, type Policy } from '@sluice/limiter-core'
import { FakeClock, openedCounter } from '@sluice/testkit'

function charge(backend: Backend, policy: Policy, key: string, cost = 1, advisory = false): Charge {
  return { key, counter: openedCounter(backend, 'test', policy), cost, advisory }
}

const minute: Policy = { name: 'minute', algorithm: 'fixed-window', limit: 5, windowMs: 60_000 }
const log: Policy = { name: 'log', algorithm: 'sliding-log', limit: 5, windowMs: 60_000 }
const bucket: Policy = { name: 'bucket', algorithm: 'token-bucket', limit: 5, windowMs: 60_000 }

describe('maxBytes', () => {
  test.each([0, -1, 65_535, 1.5 * 2 ** 20 + 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, '64mb', null])(
    'is rejected with SLUICE_BAD_OPTION and the expected value: %s',
    (maxBytes) => {
      expect(() => memoryBackend({ maxBytes: maxBytes as number })).toThrow(
        expect.objectContaining({ code: 'SLUICE_BAD_OPTION', message: expect.stringContaining('65536') }),
      )
    },
  )

  test('may be as small as 64 KiB', () => {
    const backend = memoryBackend({ maxBytes: 65_536 })
    expect(backend.takeAll([charge(backend, minute, 'a')]).verdicts[0].remaining).toBe(4)
  })

  test('bounds the memory used, and the limits of the newest keys are still enforced', () => {
    const backend = memoryBackend({ maxBytes: 65_536, clock: new FakeClock() })
    for (let key = 0; key < 20_000; key++) {
      for (let takes = 0; takes < 6; takes++) {
        const { allowed } = backend.takeAll([charge(backend, minute, `key ${key}`)]).verdicts[0]
        if (takes === 5) expect(allowed).toBe(false)
      }
    }
  })
})

test('an unknown option is rejected', () => {
  expect(() => memoryBackend({ maxbytes: 2 ** 20 } as object)).toThrow(
    expect.objectContaining({ code: 'SLUICE_BAD_OPTION', message: expect.stringContaining('"maxbytes"') }),
  )
})

describe('several charges in one take', () => {
  test('are taken all or not at all, across policies and keys', () => {
    const backend = memoryBackend({ clock: new FakeClock() })
    backend.takeAll([charge(backend, log, 'team', 4)])
    const both = [charge(backend, minute, 'user'), charge(backend, log, 'team', 2)]
    expect(backend.takeAll(both).verdicts.map(({ allowed }) => allowed)).toEqual([true, false])
    expect(backend.peekAll(both).verdicts.map(({ remaining }) => remaining)).toEqual([5, 1])
  })

  test('do not take an advisory charge if an enforced one is denied', () => {
    const backend = memoryBackend({ clock: new FakeClock() })
    backend.takeAll([charge(backend, log, 'a', 5)])
    backend.takeAll([charge(backend, minute, 'a', 1, true), charge(backend, log, 'a')])
    expect(backend.peekAll([charge(backend, minute, 'a')]).verdicts[0].remaining).toBe(5)
  })

  test('do not take an advisory charge if another advisory one would be denied', () => {
    const backend = memoryBackend({ clock: new FakeClock() })
    backend.takeAll([charge(backend, log, 'a', 5)])
    backend.takeAll([
      charge(backend, minute, 'a', 1, true),
      charge(backend, log, 'a', 1, true),
      charge(backend, bucket, 'a'),
    ])
    expect(backend.peekAll([charge(backend, minute, 'a')]).verdicts[0].remaining).toBe(5)
    expect(backend.peekAll([charge(backend, bucket, 'a')]).verdicts[0].remaining).toBe(4)
  })

  test('count an advisory charge exactly as a single enforced one', () => {
    const backend = memoryBackend({ clock: new FakeClock() })
    for (let takes = 0; takes < 20; takes++) {
      const [shadow] = backend.takeAll([charge(backend, minute, 'shadow', 2, true)]).verdicts
      const [enforced] = backend.takeAll([charge(backend, minute, 'enforced', 2)]).verdicts
      expect({ ...shadow, shadow: false }).toEqual({ ...enforced })
    }
  })
})

describe('the lateCharge event', () => {
  const told = (policy: Policy, atMs: number, units: number): unknown[] => {
    const clock = new FakeClock()
    const backend = memoryBackend({ clock })
    const events: unknown[] = []
    backend.observe?.({ event: (name, data) => events.push([name, data]) })
    const { takenAt } = backend.takeAll([charge(backend, policy, 'a')])
    clock.advance(atMs)
    backend.takeAll([charge(backend, policy, 'a')])
    backend.adjustAll([charge(backend, policy, 'a', units)], takenAt)
    return events
  }

  test('reports policy, key and the units whose window had passed', () => {
    expect(told(minute, 60_000, 3)).toEqual([['lateCharge', { policy: 'minute', key: 'a', units: 3 }]])
    expect(told(log, 60_000, 3)).toEqual([['lateCharge', { policy: 'log', key: 'a', units: 3 }]])
  })

  test('reports only the units of a charge that were dropped', () => {
    expect(told(log, 10_000, 5)).toEqual([['lateCharge', { policy: 'log', key: 'a', units: 2 }]])
  })

  test('is not emitted for a charge in time, for a bucket, or for a refund', () => {
    expect([told(minute, 59_999, 3), told(bucket, 600_000, 3), told(minute, 60_000, -3)]).toEqual([[], [], []])
    expect(told({ ...bucket, algorithm: 'gcra', limit: 7 }, 600_000, 3)).toEqual([])
  })

  test('is not sent to an observer that has unsubscribed', () => {
    const backend = memoryBackend({ clock: new FakeClock({ nowMs: 100_000 }) })
    const events: unknown[] = []
    const stop = backend.observe?.({ event: (name) => events.push(name) })
    backend.adjustAll([charge(backend, minute, 'a', 3)], 0)
    stop?.()
    backend.adjustAll([charge(backend, minute, 'a', 3)], 0)
    expect(events).toEqual(['lateCharge'])
  })
})

describe('time', () => {
  test('is the reading passed by the caller, and the clock is not read', () => {
    const fake = new FakeClock()
    let reads = 0
    const clock: Clock = {
      now: () => {
        reads++
        return fake.now()
      },
      wall: () => fake.wall(),
      after: (ms, run) => fake.after(ms, run),
    }
    const backend = memoryBackend({ clock })
    const readAtStart = reads
    expect(backend.takeAll([charge(backend, minute, 'a')], { now: 12_345 }).takenAt).toBe(12_345)
    backend.peekAll([charge(backend, minute, 'a')], { now: 12_345 })
    backend.adjustAll([charge(backend, minute, 'a')], 12_345, { now: 12_345 })
    expect(reads).toBe(readAtStart)
    expect(backend.takeAll([charge(backend, minute, 'a')]).takenAt).toBe(0)
    expect(reads).toBe(readAtStart + 1)
  })

  test('sets no timer', () => {
    const clock = new FakeClock()
    const backend = memoryBackend({ clock })
    for (let key = 0; key < 1_000; key++) backend.takeAll([charge(backend, minute, `${key}`)])
    expect(clock.pending).toBe(0)
  })

  test('is unaffected by steps of the wall clock', () => {
    const answers = [0, 3_600_000, -3_600_000].map((stepMs) => {
      const clock = new FakeClock()
      const backend = memoryBackend({ clock })
      backend.takeAll([charge(backend, minute, 'a', 5)])
      clock.stepWall(stepMs)
      clock.advance(1_000)
      return backend.takeAll([charge(backend, minute, 'a')])
    })
    expect(answers[1]).toEqual(answers[0])
    expect(answers[2]).toEqual(answers[0])
  })
})
