import { expect, test } from '@jest/globals'
import { RateGate } from '@sluice/http'
import { memoryBackend } from '@sluice/limiter-core'
import { FakeClock } from '@sluice/testkit'

test('a backend reports an event to an observer once, however many plans its limiter has', () => {
  const clock = new FakeClock()
  const backend = memoryBackend({ maxBytes: 64 * 1024, clock })
  let told = 0
  const event = (name: string) => {
    if (name === 'evicted') told++
  }
  const one = { name: 'api', limit: 1, window: '1h' } as const
  const plans = { free: [one], pro: [{ ...one, limit: 2 }], team: [{ ...one, limit: 3 }] }
  const guard = new RateGate({ plans, plan: () => 'free', backend, clock, observers: [{ event }] })
  for (let key = 0; key < 5_000; key++) guard.limiter().take(`key-${key}`)
  // at most one line a second, and the clock does not move
  expect(told).toBe(1)
})

test('a backend reports an event to an observer once, however many plugin scopes of an application have a limit', () => {
  const clock = new FakeClock()
  const backend = memoryBackend({ maxBytes: 64 * 1024, clock })
  let told = 0
  const event = (name: string) => {
    if (name === 'evicted') told++
  }
  const guard = new RateGate({ name: 'api', limit: 1, window: '1h', backend, clock, observers: [{ event }] })
  for (let part = 0; part < 9; part++) {
    guard.nested({ options: { name: 'own', limit: 2, window: '1h' }, routeScope: `part ${part}` })
    guard.nested({ without: ['nobody'], routeScope: `bare ${part}` })
  }
  for (let key = 0; key < 5_000; key++) guard.limiter().take(`key-${key}`)
  expect(told).toBe(1)
})
