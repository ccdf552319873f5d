import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { runBudget } from '@sluice/quotas/budgets'
import { FakeClock, failingBackend } from '@sluice/testkit'
import { startNode } from '../../services/processes/child-node.ts'
import { type RedisServer, startRedis } from '../../services/redis/redis-server.ts'
import { type HolderBackend, openBackend } from '../holder-backend.ts'

let redis: RedisServer
beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.stop())

test('a run whose process is killed holds nothing when its holds are over, and keeps its bill', async () => {
  const clock = new FakeClock({ nowMs: Date.now() })
  const run = { id: 'run-1', usd: '0.50', maxHoldMs: '80s' } as const
  const policy = { name: 'unused', limit: 1, window: '1m' } as const
  const options: HolderBackend = { kind: 'redis', redisPort: redis.port, postgresUrl: '', policy }
  const child = startNode<typeof import('../children/agents.ts')>('budgets/children/agents.ts')
  expect(await child.call('holdAll', options, run, clock.now())).toEqual({ spent: 10_000, left: 0 })
  await child.stop()

  const { backend, close } = await openBackend(options, clock)
  const budget = runBudget({ ...run, backend, clock, deadlineMs: '20s' })
  const left = async () => (await budget.left()).microUsd
  expect(await left()).toBe(0)
  clock.advance(80_000 - 1)
  expect(await left()).toBe(0)
  // an eighth of `maxHoldMs` later
  clock.advance(10_000 + 1)
  expect(await left()).toBe(490_000)
  await budget.child({ name: 'child-1', usd: '0.1' }).call({ name: 'tool', cost: { usd: '0.01' } }, () => 1)
  expect(await left()).toBe(480_000)
  await expect(budget.call({ name: 'tool', cost: { usd: '0.49' } }, () => 1)).rejects.toMatchObject({ bound: 'usd' })
  await budget.close()
  await backend.close?.()
  await close()
})

test('two processes share the bound of a run', async () => {
  const clock = new FakeClock({ nowMs: Date.now() })
  const policy = { name: 'unused', limit: 1, window: '1m' } as const
  const options: HolderBackend = { kind: 'redis', redisPort: redis.port, postgresUrl: '', policy }
  const opened = await Promise.all([openBackend(options, clock), openBackend(options, clock)])
  const budgets = opened.map(({ backend }) => runBudget({ id: 'run-2', calls: 30, backend, clock, deadlineMs: '20s' }))
  let made = 0
  const agent = async (call: number): Promise<void> => {
    const child = budgets[call % 2].child({ name: `agent-${call}` })
    for (;;) await child.call({ name: 'tool' }, () => ++made)
  }
  const ends = await Promise.allSettled(Array.from({ length: 8 }, (_, call) => agent(call)))
  expect(ends.every((end) => end.status === 'rejected' && end.reason.bound === 'calls')).toBe(true)
  expect(made).toBe(30)
  expect(budgets[0].spent.calls + budgets[1].spent.calls).toBe(30)
  for (const budget of budgets) await budget.close()
  for (const { backend } of opened) await backend.close?.()
  for (const { close } of opened) await close()
})

test('calls are denied while the backend does not answer', async () => {
  const backend = failingBackend(() => Promise.reject(new Error('down')))
  const budget = runBudget({ calls: 30, backend, clock: new FakeClock() })
  await expect(budget.call({ name: 'tool' }, () => 1)).rejects.toMatchObject({ code: 'SLUICE_BACKEND_FAILED' })
  expect(budget.end).toBeUndefined()
  expect(budget.spent.calls).toBe(0)
  await budget.close()
})
