import { afterEach, describe, expect, test } from '@jest/globals'
import { closeBenches, failoverBench, serverError } from './flaky-backend.ts'

afterEach(closeBenches)

describe('the last answers of a backend', () => {
  test.each([3, 1_500])('are used after it fails: the latest answer of each of %d keys', async (keys) => {
    const one = failoverBench()
    const limiter = one.limiter('local', { limit: 10 })
    const names = Array.from({ length: keys }, (_, key) => `${key}`)
    for (const name of names) await limiter.take(name, 2)
    for (const name of names) await limiter.take(name, 3)
    one.flaky.condition = serverError('CONNECTION')
    const left = []
    for (const name of names) left.push((await limiter.take(name)).binding.remaining)
    expect(left).toEqual(names.map(() => 4))
  })

  test('are used separately per policy, also for a key too long to be kept in full', async () => {
    const one = failoverBench()
    const [few, many] = [3, 30].map((limit) => one.limiter('local', { name: `of ${limit}`, limit }))
    const long = 'k'.repeat(1_000)
    for (const key of [long, 'short']) {
      await few.take(key)
      await many.take(key, 10)
    }
    one.flaky.restart()
    one.flaky.condition = serverError('CONNECTION')
    for (const key of [long, 'short']) {
      expect((await few.take(key)).binding.remaining).toBe(1)
      expect((await many.take(key)).binding.remaining).toBe(19)
    }
  })
})
