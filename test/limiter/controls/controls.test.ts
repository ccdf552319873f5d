import { expect, test } from '@jest/globals'
import { createLimiter, limitOverrides, type PolicyInput, type SyncLimiterOptions } from '@sluice/limiter-core'
import { FakeClock } from '@sluice/testkit'
import { Operator } from './controlled.ts'

const MINUTE = { name: 'minute', limit: 3, window: '1m', algorithm: 'fixed-window' } as const
const HOUR = { name: 'hour', limit: 5, window: '1h', algorithm: 'fixed-window' } as const

function controlled(policies: readonly PolicyInput[], more: Partial<SyncLimiterOptions> = {}) {
  const operator = new Operator()
  const clock = new FakeClock()
  const options = { policies, clock, observers: [operator], ...more } as SyncLimiterOptions
  return { operator, clock, limiter: createLimiter(options) }
}

test('an observer is notified when a limiter is created and when it is closed', () => {
  const { operator, limiter } = controlled([MINUTE, { ...HOUR, mode: 'off' }])
  expect(operator.limiters.map(({ policies }) => policies.map(({ policy }) => policy.name))).toEqual([['minute']])
  expect(operator.limiters[0].policies[0]).toMatchObject({
    mode: 'enforce',
    backend: 'memory',
    perProcess: true,
    countName: expect.stringContaining('/minute/fixed-window@'),
  })
  limiter.close()
  expect(operator.limiters).toEqual([])
})

test('a policy switched to shadow continues to count and denies no request until it is switched back', () => {
  const { operator, limiter } = controlled([MINUTE])
  for (let takes = 0; takes < 3; takes++) limiter.take('key')
  operator.setControls({ minute: { mode: 'shadow' } })
  expect(limiter.take('key')).toMatchObject({ allowed: true, binding: { shadow: true, allowed: false } })
  expect(limiter.take('other')).toMatchObject({ allowed: true, binding: { shadow: true, remaining: 2 } })
  operator.release()
  expect(limiter.take('key').allowed).toBe(false)
  expect(limiter.take('other')).toMatchObject({ allowed: true, binding: { shadow: false, remaining: 1 } })
})

test('a policy switched off does not count, and the other policies continue to count', () => {
  const { operator, limiter } = controlled([MINUTE, HOUR])
  operator.setControls({ minute: { mode: 'off' } })
  for (let takes = 0; takes < 5; takes++) {
    expect(limiter.take('key').verdicts.map(({ policy }) => policy.name)).toEqual(['hour'])
  }
  expect(limiter.take('key')).toMatchObject({ allowed: false, binding: { policy: { name: 'hour' } } })
  operator.setControls({ minute: { mode: 'off' }, hour: { mode: 'off' } })
  expect(limiter.take('key')).toMatchObject({ allowed: true, counted: false, source: 'off' })
  operator.release()
  expect(limiter.peek('key').verdicts.map(({ remaining }) => remaining)).toEqual([3, 0])
})

test('a changed limit applies to the existing counts, and the old limit applies again afterwards', () => {
  const { operator, limiter } = controlled([MINUTE])
  for (let takes = 0; takes < 3; takes++) limiter.take('key')
  operator.setControls({ minute: { limit: 5 } })
  expect(limiter.take('key')).toMatchObject({ allowed: true, binding: { remaining: 1, policy: { limit: 5 } } })
  operator.setControls({ minute: { limit: 2 } })
  expect(limiter.take('key')).toMatchObject({ allowed: false, binding: { remaining: 0, policy: { limit: 2 } } })
  operator.release()
  expect(limiter.take('key')).toMatchObject({ allowed: false, binding: { policy: { limit: 3 } } })
  expect(limiter.take('new')).toMatchObject({ allowed: true, binding: { remaining: 2 } })
})

test('a key with its own limit keeps it', () => {
  const overrides = limitOverrides({ limits: { big: 9 } })
  const { operator, limiter } = controlled([{ ...MINUTE, overrides }])
  operator.setControls({ minute: { limit: 1 } })
  expect(limiter.take('big').binding).toMatchObject({ remaining: 8, policy: { limit: 9 } })
  expect(limiter.take('key').binding).toMatchObject({ remaining: 0, policy: { limit: 1 } })
})

test('a limit too large for the log is rejected, and the previous limit stays in effect', () => {
  const { operator, limiter } = controlled([{ ...MINUTE, algorithm: 'sliding-log' }])
  operator.setControls({ minute: { limit: 2 } })
  expect(() => operator.setControls({ minute: { limit: 4 } })).toThrow(
    expect.objectContaining({ code: 'SLUICE_BAD_LIMIT', message: expect.stringContaining('expected at most 3') }),
  )
  expect(limiter.take('key').binding).toMatchObject({ remaining: 1, policy: { limit: 2 } })
})

test('a blocked key is denied for as long as the block lasts, and nothing is counted', () => {
  const { operator, limiter } = controlled([MINUTE, { ...HOUR, mode: 'shadow' }])
  operator.setControls({}, { villain: 1_500.5 })
  expect(limiter.take('villain')).toMatchObject({
    allowed: false,
    retryAfterMs: 1_501,
    counted: false,
    source: 'blocked',
    verdicts: [{ policy: { name: 'minute' }, remaining: 0 }],
  })
  expect(limiter.peek('villain')).toMatchObject({ allowed: false, source: 'blocked' })
  expect(limiter.take('key').allowed).toBe(true)
  operator.setControls({ minute: { mode: 'shadow' } }, { villain: 1_000 })
  expect(limiter.take('villain').allowed).toBe(true)
  operator.release()
  expect(limiter.peek('villain').verdicts.map(({ remaining }) => remaining)).toEqual([2, 4])
})

test('units taken before a switch are refunded after it, under either limit', () => {
  const { operator, limiter } = controlled([MINUTE])
  const taken = limiter.take('key', 2)
  operator.setControls({ minute: { limit: 5, mode: 'shadow' } })
  limiter.charge('key', -2, taken)
  operator.release()
  expect(limiter.peek('key').binding.remaining).toBe(3)
})

test('its counts can be read and reset while it is off or the key is blocked', async () => {
  const { operator, limiter } = controlled([MINUTE])
  limiter.take('key', 2)
  operator.setControls({ minute: { mode: 'off', limit: 4 } }, { key: 1_000 })
  const [watched] = operator.limiters
  expect(await watched.peek(0, 'key', 1)).toMatchObject({ allowed: true, binding: { remaining: 2 } })
  expect(await watched.peek(0, 'key', 3)).toMatchObject({ allowed: false, retryAfterMs: 60_000 })
  await watched.reset(0, 'key')
  operator.release()
  expect(limiter.peek('key').binding.remaining).toBe(3)
})
