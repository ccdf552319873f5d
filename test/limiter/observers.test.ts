import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals'
import { createLimiter, type Decision, memoryBackend, type Observer } from '@sluice/limiter-core'
import { resetWarnings } from '@sluice/limiter-core/backend'
import { FakeClock } from '@sluice/testkit'
import { PromisedBackend } from '../contracts/async-backend.ts'

const minute = { name: 'minute', limit: 2, window: '1m', algorithm: 'fixed-window' } as const
let warned: ReturnType<typeof spyOnWarnings>
const spyOnWarnings = () => jest.spyOn(process, 'emitWarning').mockImplementation(() => {})

beforeEach(() => {
  resetWarnings()
  warned = spyOnWarnings()
})
afterEach(() => warned.mockRestore())

describe('an observer', () => {
  test('receives every decision with its key, allowed or denied, but no peeks', () => {
    const heard: [string, boolean][] = []
    const observer: Observer = { decided: (key, { allowed }) => heard.push([key, allowed]) }
    const limiter = createLimiter({ policies: [minute], clock: new FakeClock(), observers: [observer] })
    limiter.take('a', 2)
    limiter.peek('a')
    limiter.take('a')
    limiter.take('b')
    expect(heard).toEqual([
      ['a', true],
      ['a', false],
      ['b', true],
    ])
  })

  test('receives the key of the binding policy', () => {
    const heard: string[] = []
    const hour = { name: 'hour', limit: 100, window: '1h' } as const
    const observers = [{ decided: (key: string) => heard.push(key) }]
    const limiter = createLimiter({ policies: [hour, minute], clock: new FakeClock(), observers })
    limiter.take({ hour: 'team', minute: 'ann' })
    expect(heard).toEqual(['ann'])
  })

  test('receives asynchronous decisions', async () => {
    const heard: Decision[] = []
    const clock = new FakeClock()
    const observers = [{ decided: (_: string, decision: Decision) => heard.push(decision) }]
    const limiter = createLimiter({ policies: [minute], backend: new PromisedBackend(clock), clock, observers })
    const decision = await limiter.take('a')
    expect(heard).toEqual([decision])
  })

  test('receives events of the backend until the limiter is closed', () => {
    const heard: string[] = []
    const backend = memoryBackend({ clock: new FakeClock({ nowMs: 500_000 }) })
    const limiter = createLimiter({ policies: [minute], backend, observers: [{ event: (name) => heard.push(name) }] })
    limiter.charge('a', 1, 0)
    limiter.close()
    limiter.charge('a', 1, 0)
    expect(heard).toEqual(['lateCharge'])
  })

  test.each([
    ['one policy', [minute]],
    ['two policies', [minute, { ...minute, name: 'other' }]],
  ])('that throws is removed and warned about once, and does not change decisions: %s', (_, policies) => {
    const heard: string[] = []
    let thrown = 0
    const bad: Observer = {
      decided() {
        thrown++
        throw new Error('observer')
      },
    }
    const good: Observer = { decided: (key) => heard.push(key) }
    const limiter = createLimiter({ policies, clock: new FakeClock(), observers: [good, bad, good] })
    expect([limiter.take('a').allowed, limiter.take('a').allowed, limiter.take('a').allowed]).toEqual([
      true,
      true,
      false,
    ])
    expect([thrown, heard.length]).toEqual([1, 6])
    expect(warned.mock.calls.map(([, options]) => options)).toEqual([
      { type: 'SluiceWarning', code: 'SLUICE_OBSERVER_DROPPED' },
    ])
  })

  test('that throws on an event of the backend is removed, too', () => {
    let thrown = 0
    const observers: Observer[] = [
      {
        event() {
          thrown++
          throw new Error('observer')
        },
      },
    ]
    const backend = memoryBackend({ clock: new FakeClock({ nowMs: 500_000 }) })
    const limiter = createLimiter({ policies: [minute], backend, observers })
    limiter.charge('a', 1, 0)
    limiter.charge('a', 1, 0)
    expect(thrown).toBe(1)
  })
})
