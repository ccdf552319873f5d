import { afterEach, beforeEach, expect, jest, test } from '@jest/globals'
import { createInflightLimiter, createLimiter, waitFor } from '@sluice/limiter-core'

// as the README of @sluice/testkit promises: no clock option, time is moved by jest only
beforeEach(() => {
  jest.useFakeTimers()
})
afterEach(() => {
  jest.useRealTimers()
})

test('jest moves the default clock of a limiter', () => {
  const limiter = createLimiter({ policies: [{ limit: 1, window: '1m', algorithm: 'fixed-window' }] })
  expect(limiter.take('user').allowed).toBe(true)
  expect(limiter.take('user')).toMatchObject({ allowed: false, retryAfterMs: 60_000 })
  jest.advanceTimersByTime(59_999)
  expect(limiter.take('user').allowed).toBe(false)
  jest.advanceTimersByTime(1)
  expect(limiter.take('user').allowed).toBe(true)
})

test('jest moves a limiter that was created before timers were faked', () => {
  jest.useRealTimers()
  const limiter = createLimiter({ policies: [{ limit: 1, window: '1m', algorithm: 'fixed-window' }] })
  jest.useFakeTimers()
  limiter.take('user')
  jest.advanceTimersByTime(60_000)
  expect(limiter.take('user').allowed).toBe(true)
})

test('jest moves the timers of waitFor', async () => {
  const limiter = createLimiter({ policies: [{ limit: 1, window: '1m', algorithm: 'fixed-window' }] })
  limiter.take('user')
  const waiting = waitFor(limiter, 'user', { maxWaitMs: '5m' })
  await jest.advanceTimersByTimeAsync(60_000)
  expect((await waiting).allowed).toBe(true)
})

test('jest moves the hold of a permit', () => {
  const inflight = createInflightLimiter({ limit: 1, maxHoldMs: '30s' })
  const permit = inflight.acquire()
  jest.advanceTimersByTime(29_999)
  expect(inflight.count()).toBe(1)
  jest.advanceTimersByTime(1)
  expect([inflight.count(), permit?.lost.aborted]).toEqual([0, true])
})

test('a step of the system time does not affect limits', () => {
  const limiter = createLimiter({ policies: [{ limit: 1, window: '1m' }] })
  limiter.take('user')
  jest.setSystemTime(Date.now() + 86_400_000)
  expect(limiter.take('user').allowed).toBe(false)
})
