import { randomUUID } from 'node:crypto'
import { expect, test } from '@jest/globals'
import { createLimiter } from '@sluice/limiter-core'
import { afterThisTurn, systemClock } from '@sluice/limiter-core/backend'
import { redisBackend, type ScriptRunner, scriptRunner, syncedBackend } from '@sluice/redis'
import { FakeClock } from '@sluice/testkit'
import { redisClientForTests } from '../../services/redis/redis-for-tests.ts'

const redis = redisClientForTests()

/** Takes 20 units twice; the first reply to a report is `wrong`. Returns the second decision and what Redis has left. */
async function afterFirst(wrong: (reply: unknown) => unknown) {
  const clock = new FakeClock({ wallMs: systemClock.wall() })
  const inner = scriptRunner(redis.client)
  let [reports, underWay] = [0, 0]
  const run: ScriptRunner['run'] = async (...call) => {
    underWay++
    const reply = await inner.run(...call)
    underWay--
    return call[0].name.startsWith('sync:') && ++reports === 1 ? wrong(reply) : reply
  }
  const prefix = randomUUID()
  const backend = syncedBackend({ run }, { prefix, clock, nodes: 1 })
  const policy = { name: 'api', algorithm: 'fixed-window', limit: 100, window: '1h' } as const
  const limiter = createLimiter({ policies: [{ ...policy, backend }], clock, scope: 'wrong' })
  const passes = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 20) {
      clock.advance(20)
      do await new Promise<void>((resolve) => afterThisTurn(resolve))
      while (underWay > 0)
    }
  }
  await limiter.take('a', 20)
  await passes(6_000)
  const decision = await limiter.take('a', 20)
  await passes(6_000)
  const stored = redisBackend(redis.client, { prefix })
  const reader = createLimiter({ policies: [{ ...policy, backend: stored }], scope: 'wrong', deadlineMs: 20_000 })
  const left = (await reader.peek('a')).binding.remaining
  reader.close()
  await stored.close?.()
  limiter.close()
  const closed = backend.close?.()
  await passes(2_000)
  await closed
  return { decision, left, pending: clock.pending }
}

test('a count that is not a number fails the report, and the next report counts', async () => {
  const { decision, left, pending } = await afterFirst((reply) => String(reply).replace(/ [^ ]+$/, ' NaN'))
  expect(decision).toMatchObject({ allowed: true, counted: true, binding: { remaining: 60 } })
  expect([left, pending]).toEqual([60, 0])
})

test('a report without a reply is sent again, although the runner never settles its call', async () => {
  const { decision, left, pending } = await afterFirst(() => new Promise(() => {}))
  expect(decision).toMatchObject({ allowed: true, counted: true, binding: { remaining: 60 } })
  expect([left, pending]).toEqual([60, 0])
})
