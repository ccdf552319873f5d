import { expect, test } from '@jest/globals'
import { MIB, scene } from '../../floods/scene.ts'

test('a flood on a policy of one unit a day causes no denials of new keys of another policy', () => {
  const { limiter, clock } = scene(
    [
      { name: 'otp', algorithm: 'fixed-window', limit: 1, window: '1d' },
      { name: 'api', algorithm: 'fixed-window', limit: 1_000, window: '1m' },
    ],
    1 * MIB,
  )
  const only = (policy: 'otp' | 'api') => ({ otp: 0, api: 0, [policy]: 1 })
  for (let key = 0; key < 60_000; key++) limiter.take(`flood-${key}`, only('otp'))
  clock.advance(1_000)
  let denied = 0
  for (let key = 0; key < 1_000; key++) if (!limiter.take(`new-${key}`, only('api')).allowed) denied++
  expect(denied).toBeLessThanOrEqual(1)
})
