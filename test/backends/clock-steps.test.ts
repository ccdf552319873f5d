import { describe, expect, test } from '@jest/globals'
import { eachSeed } from '@sluice/testkit'
import { redisClientForTests } from '../services/redis/redis-for-tests.ts'
import { SteppedDay } from './stepped-day.ts'
import { siteKinds } from './stepped-sites.ts'

const redis = redisClientForTests()

describe('a day on which wall clocks are set by up to an hour', () => {
  test.each(Object.entries(siteKinds))('changes no limit, and leaves no key denied: %s', async (name, kind) => {
    await eachSeed(1, async (random, seed) => {
      const day = new SteppedDay({ kind, random, redis: redis.client, prefix: `day-${seed}-${name}` })
      try {
        await day.run()
      } finally {
        await day.close()
      }
      expect(day.most).toBeLessThanOrEqual(kind.overshoot ?? 1)
      // the limits were reached
      expect(day.most).toBeGreaterThan(0.4)
      expect(Math.min(day.admitted, day.denied)).toBeGreaterThan(40 * day.timers.length)
      // an hour with clock steps sets about as many timers as the hour without one
      expect(Math.max(...day.timers)).toBeLessThanOrEqual(2 * day.timers[0] + 100)
    })
  })
})
