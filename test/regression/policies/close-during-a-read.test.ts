import { expect, test } from '@jest/globals'
import { afterThisTurn } from '@sluice/limiter-core/backend'
import { loadPolicies } from '@sluice/policies'
import { FakeClock } from '@sluice/testkit'

// regression: a document that was being read while the policies were closed took the place of the current ones
test('policies stay in force if they are closed while a change is read, until they are reloaded', async () => {
  let limit = 1
  let sent = 0
  let changed = (): void => {}
  let answer: Promise<void> = Promise.resolve()
  const { policies: loaded } = await loadPolicies(
    {
      name: 'custom',
      read: async () => {
        await answer
        if (limit === sent) return undefined
        sent = limit
        return `version: 1\npolicies: [{ name: one, limit: ${limit}, per: 1m }]`
      },
      watch: (call) => {
        changed = call
        return () => {}
      },
    },
    { watch: true, clock: new FakeClock() },
  )
  const limits = (): unknown[] => loaded.current.map((policy) => policy.limit)
  limit = 2
  answer = new Promise((resolve) => afterThisTurn(resolve))
  changed()
  changed()
  loaded.close()
  for (let turn = 0; turn < 5; turn++) await new Promise<void>((resolve) => afterThisTurn(resolve))
  expect(limits()).toEqual([1])
  await loaded.reload()
  expect(limits()).toEqual([2])
})
