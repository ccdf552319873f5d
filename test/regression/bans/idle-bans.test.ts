import { expect, test } from '@jest/globals'
import { createLimiter, type Limiter, memoryBackend, type PolicyInput } from '@sluice/limiter-core'
import { FakeClock } from '@sluice/testkit'

const clock = new FakeClock({ nowMs: 1_000 })
const backend = memoryBackend({ clock })
const ban = { after: 2, within: '1m', for: '10s', max: '1h' } as const

/** A limiter that shares its counts and bans with all others here. */
function limiterOf(name = 'api', terms: object = {}): Limiter {
  const policies: PolicyInput[] = [{ name, limit: 1, window: '1s', ban: { ...ban, ...terms } }]
  return createLimiter({ policies, backend, clock, shared: true })
}

// while no ban runs, no request reads one
test('a ban that another limiter began holds until its end, and denies no other key', async () => {
  const [one, other] = [limiterOf(), limiterOf()]
  const statusOf = async (limiter: Limiter, key = 'a'): Promise<string> => {
    const { allowed, source } = await limiter.take(key)
    return allowed ? 'allowed' : source
  }
  expect([await statusOf(one), await statusOf(other, 'b')]).toEqual(['allowed', 'allowed'])
  await one.ban('a', '20s')
  clock.advance(19_999)
  expect([await statusOf(one), await statusOf(other), await statusOf(other, 'b')]).toEqual([
    'banned',
    'banned',
    'allowed',
  ])
  clock.advance(1)
  expect([await statusOf(other), await statusOf(one)]).toEqual(['allowed', 'memory'])
  // the second strike
  expect(await statusOf(one)).toBe('memory')
  expect([await statusOf(one), await statusOf(other)]).toEqual(['banned', 'banned'])
  // each ban is twice as long
  clock.advance(1_000_000)
  expect([await statusOf(one), await statusOf(other)]).toEqual(['allowed', 'memory'])
})

test('a ban that is extended by its requests holds until it has been idle', async () => {
  const limiter = limiterOf('extended', { extend: true })
  await limiter.take('c')
  await limiter.ban('c', '10s')
  for (let request = 0; request < 5; request++) {
    clock.advance(9_000)
    expect((await limiter.take('c')).source).toBe('banned')
  }
  clock.advance(40_000)
  expect((await limiter.take('c')).allowed).toBe(true)
})
