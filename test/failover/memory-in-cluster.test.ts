import cluster from 'node:cluster'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { createLimiter, memoryBackend } from '@sluice/limiter-core'
import { runBudget } from '@sluice/quotas/budgets'
import { FakeClock, Warnings } from '@sluice/testkit'
import { ClientUsage } from '../../packages/http/src/overload/priority/client-usage.ts'
import { closeBenches, failoverBench, serverError } from './flaky-backend.ts'

const warnings = new Warnings()
const policies = [{ limit: 5, window: '1m' }] as const
const { pm_id, NODE_APP_INSTANCE } = process.env
const { send } = process

beforeEach(() => {
  delete process.env.pm_id
  delete process.env.NODE_APP_INSTANCE
  warnings.listen()
})
afterEach(() => {
  closeBenches()
  warnings.stop()
  Object.assign(cluster, { isWorker: false })
  Object.assign(process, { send })
  for (const [name, value] of Object.entries({ pm_id, NODE_APP_INSTANCE })) {
    if (value === undefined) delete process.env[name]
    else process.env[name] = value
  }
})

const places: Readonly<Record<string, () => void>> = {
  'a worker of node:cluster': () => {
    Object.assign(cluster, { isWorker: true })
    process.send = () => true
  },
  'a process of pm2': () => {
    process.env.pm_id = '0'
  },
  'an instance of pm2': () => {
    process.env.NODE_APP_INSTANCE = '1'
  },
}

describe.each(Object.entries(places))('a limiter in %s', (_place, stands) => {
  test('that counts in memory logs one warning at start-up with the names of all policies it counts there', () => {
    stands()
    const [policy] = policies
    const one = failoverBench()
    const elsewhere = { ...policy, name: 'elsewhere', backend: one.flaky }
    createLimiter({ policies: [{ ...policy, name: 'a' }, { ...policy, name: 'b' }, elsewhere] })
    createLimiter({ policies: [{ ...policy, name: 'c' }], backend: memoryBackend() })
    expect(one.warnings.codes).toEqual(['SLUICE_MEMORY_IN_CLUSTER', 'SLUICE_MEMORY_IN_CLUSTER'])
    expect(one.warnings.texts[0]).toMatch(/^limiter 'a, b': .*N processes admit up to N limits/)
    expect(one.warnings.texts[1]).toMatch(/^limiter 'c': /)
  })

  test('that is off or counts elsewhere logs no warning, even if it counts in memory during an outage', async () => {
    stands()
    const one = failoverBench()
    createLimiter({ policies, mode: 'off' })
    const limiter = one.limiter()
    one.flaky.condition = serverError('OOM')
    await one.takes(limiter, 3)
    expect(one.warnings.codes).toEqual(['SLUICE_BACKEND_FAILED'])
  })

  test('in which a cap compares the clients of this process logs no warning', () => {
    stands()
    const usage = new ClientUsage(new FakeClock())
    usage.ended(usage.began('ada'), 100)
    expect(usage.cohortOf('ada')).toBe(0)
    expect(warnings.codes).toEqual([])
    usage.close()
  })

  test('of a run that is one of this process logs no warning, unless other processes may work on it', async () => {
    stands()
    const alone = runBudget({ calls: 5 })
    expect(warnings.codes).toEqual([])
    const named = runBudget({ calls: 5, id: 'of several processes' })
    expect(warnings.codes).toEqual(['SLUICE_MEMORY_IN_CLUSTER'])
    await Promise.all([alone.close(), named.close()])
  })
})

test('a limiter in a single process logs no warning', () => {
  createLimiter({ policies })
  expect(warnings.codes).toEqual([])
})
