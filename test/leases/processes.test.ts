import { randomUUID } from 'node:crypto'
import { describe, expect, test } from '@jest/globals'
import type { Policy } from '@sluice/limiter-core'
import { until } from '@sluice/testkit'
import { redisForTests } from '../services/redis/redis-for-tests.ts'
import { Spenders, spend } from './spenders.ts'

const thousand: Policy = { name: 'thousand', algorithm: 'sliding-window', slices: 10, limit: 1_000, windowMs: 60_000 }
const quick: Policy = { ...thousand, name: 'quick', limit: 500, windowMs: 1_000 }
const redis = redisForTests()

describe('four processes that lease from one Redis', () => {
  test('admit at most 1,000 of 4 x 5,000 concurrent requests, and nearly 1,000', async () => {
    const spenders = new Spenders({
      policy: thousand,
      leaseMs: 2_000,
      port: redis.server.port,
      prefix: randomUUID(),
      burst: 5_000,
    })
    try {
      const children = await Promise.all([1, 2, 3, 4].map(() => spenders.start()))
      await Promise.all(children.map(spend))
      const { total } = spenders.spends()
      process.stdout.write(`4 x 5,000 at once, limit 1,000: ${total} admitted\n`)
      expect(total).toBeLessThanOrEqual(1_000)
      expect(total).toBeGreaterThan(950)
    } finally {
      await spenders.stop()
    }
  })

  test('admit no more than the limit in any window while one of them is killed', async () => {
    const spenders = new Spenders({
      policy: quick,
      leaseMs: 1_000,
      port: redis.server.port,
      prefix: randomUUID(),
      forMs: 2_500,
    })
    try {
      const children = await Promise.all([1, 2, 3, 4].map(() => spenders.start()))
      const [victim, ...others] = children
      victim.send('go')
      const spent = others.map(spend)
      await until(() => spenders.spends().total > 650, { timeoutMs: 20_000 })
      victim.kill('SIGKILL')
      const heir = await spenders.start()
      await Promise.all([...spent, spend(heir)])
      const spends = spenders.spends()
      const worst = spends.worstWindow(quick.windowMs - 1)
      process.stdout.write(`stream with a kill -9: ${spends.total} admitted, ${worst} of 500 in the worst window\n`)
      expect(worst).toBeLessThanOrEqual(500)
      expect(worst).toBeGreaterThan(400)
    } finally {
      await spenders.stop()
    }
  })
})
