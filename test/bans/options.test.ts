import { describe, expect, test } from '@jest/globals'
import { createGossip, gossipBackend } from '@sluice/gossip'
import { type BanInput, createLimiter, memoryBackend, type SluiceError } from '@sluice/limiter-core'
import { sketchBackend } from '@sluice/sketches/limits'
import { FakeClock } from '@sluice/testkit'

const ban: BanInput = { after: 3, within: '1m', for: '10m' }

function thrownBy(run: () => unknown): unknown {
  try {
    run()
  } catch (error) {
    return error
  }
  throw new Error('nothing was thrown')
}

function errorOf(options: object): string {
  const error = thrownBy(() =>
    createLimiter({ limit: 1, window: '1m', ban: { ...ban, ...options } as BanInput }),
  ) as SluiceError
  return error.message.replace(/ \(https:.*\)$/, '')
}

describe('the options of a ban', () => {
  test.each([
    [
      { after: 0 },
      "SLUICE_BAD_OPTION: policy 'default': ban: after: expected an integer from 1 to 999999999999999, received 0",
    ],
    [
      { after: 1.5 },
      "SLUICE_BAD_OPTION: policy 'default': ban: after: expected an integer from 1 to 999999999999999, received 1.5",
    ],
    [
      { strikes: [200] },
      "SLUICE_BAD_OPTION: policy 'default': ban: strikes: expected an integer from 400 to 599, received 200",
    ],
    [
      { strikes: [] },
      "SLUICE_BAD_OPTION: policy 'default': ban: strikes: expected one of 'denials', 'failures', received an array of length 0",
    ],
    [
      { growth: 0.9 },
      "SLUICE_BAD_OPTION: policy 'default': ban: growth: expected a number of at least 1, received 0.9",
    ],
    [
      { growth: Number.NaN },
      "SLUICE_BAD_OPTION: policy 'default': ban: growth: expected a number of at least 1, received NaN",
    ],
    [
      { growth: Number.POSITIVE_INFINITY },
      "SLUICE_BAD_OPTION: policy 'default': ban: growth: expected a number of at least 1, received Infinity",
    ],
    [
      { max: '5m' },
      "SLUICE_BAD_DURATION: policy 'default': ban: max: expected a duration from 600000 ms (for) to 31622400000 ms (366 days), received 300000 ms",
    ],
    [
      { for: '400d' },
      "SLUICE_BAD_DURATION: policy 'default': ban: for: expected a duration of at most 31622400000 ms (366 days), received 34560000000 ms",
    ],
    [
      { forget: '1h' },
      "SLUICE_BAD_DURATION: policy 'default': ban: forget: expected a duration from 86400000 ms (max) to 63244800000 ms (732 days), received 3600000 ms",
    ],
    [
      { strikes: 'errors' },
      "SLUICE_BAD_OPTION: policy 'default': ban: strikes: expected one of 'denials', 'failures', received a string of 6 characters",
    ],
    [
      { forgiveOn: true },
      "SLUICE_BAD_OPTION: policy 'default': ban: forgiveOn: expected one of 'success', received true",
    ],
    [
      { extend: 'yes' },
      "SLUICE_BAD_OPTION: policy 'default': ban: extend: expected true or false, received a string of 3 characters",
    ],
  ])('%j is rejected', (options, message) => {
    expect(errorOf(options)).toBe(message)
  })

  test('an unknown option is rejected', () => {
    expect(errorOf({ blockDuration: 5 })).toContain('received an unknown option')
  })

  test('a ban that is not an object is rejected', () => {
    const error = thrownBy(() => createLimiter({ limit: 1, window: '1m', ban: '10m' as unknown as BanInput }))
    expect(error).toMatchObject({ code: 'SLUICE_BAD_OPTION' })
  })

  test('durations that a backend with time slots cannot count are rejected', () => {
    const clock = new FakeClock()
    const backend = gossipBackend(createGossip({ peers: [], clock }))
    const limiterWith = (growth: number) => () =>
      createLimiter({ name: 'api', limit: 100, window: '1m', backend, clock, ban: { ...ban, growth } })
    expect(thrownBy(limiterWith(1.1))).toMatchObject({
      code: 'SLUICE_BAD_POLICY',
      message: expect.stringContaining("policy 'api': ban: growth: expected at most 16 different durations"),
    })
    expect(limiterWith(2)).not.toThrow()
  })

  test('backends that do not count single keys exactly are rejected', () => {
    const limiter = () => createLimiter({ name: 'api', limit: 100, window: '1m', backend: sketchBackend(), ban })
    expect(thrownBy(limiter)).toMatchObject({
      code: 'SLUICE_BAD_POLICY',
      message: expect.stringContaining('set another backend of the policy, such as redisBackend(client)'),
    })
  })

  test('a ban by a call needs a policy that bans keys, for at least as long', async () => {
    const clock = new FakeClock()
    const policy = { limit: 1, window: '1m', clock } as const
    const plain = createLimiter(policy)
    expect(() => plain.ban('a', '1m')).toThrow('SLUICE_BAD_OPTION: ban: expected a policy with a ban, such as ban: {')
    const limiter = createLimiter({ ...policy, name: 'api', ban: { ...ban, max: '1h' } })
    expect(() => limiter.ban('a', '2h')).toThrow(
      `SLUICE_BAD_OPTION: ban: expected at most 3600000 ms, the longest ban of policy 'api', received`,
    )
    expect(() => limiter.ban('a', 60)).toThrow('SLUICE_BAD_DURATION: ban: expected a duration')
    expect(() => limiter.ban(7 as never, '1m')).toThrow('SLUICE_BAD_KEY')
    await limiter.ban('a', '1h')
    expect(limiter.take('a')).toMatchObject({ source: 'banned', retryAfterMs: 3_600_000 })
    // time slots have the durations that bans reach by growth
    const backend = gossipBackend(createGossip({ peers: [], clock }))
    const slotted = createLimiter({ ...policy, name: 'slotted', backend, ban: { ...ban, growth: 1 } })
    expect(() => slotted.ban('a', '1d')).toThrow("the longest ban of policy 'slotted'")
    // a policy that is off bans nothing
    const off = createLimiter({ ...policy, mode: 'off', ban })
    await off.ban('a', '1m')
    expect(off.take('a').allowed).toBe(true)
  })

  test('plans with different bans of one policy are rejected, and a limiter that failed releases its names', () => {
    const backend = memoryBackend()
    const policy = { name: 'api', limit: 1, window: '1m' } as const
    const limiter = createLimiter({ policies: [{ ...policy, ban }], backend })
    expect(() => createLimiter({ policies: [{ ...policy, ban: { ...ban, after: 4 } }], backend })).toThrow(
      /SLUICE_DUPLICATE_POLICY|definition in use/,
    )
    limiter.close()
    expect(() => createLimiter({ policies: [{ ...policy, ban: { ...ban, after: 4 } }], backend })).not.toThrow()
  })
})
