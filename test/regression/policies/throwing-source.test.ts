import { expect, jest, test } from '@jest/globals'
import { loadPolicies } from '@sluice/policies'

// regression: the failed read stayed the current one, so no later reload read the source
test('a source whose read throws is read again by the next reload', async () => {
  jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
  let limit = 1
  let isBroken = false
  const { policies: loaded } = await loadPolicies({
    name: 'custom',
    read: () => {
      if (isBroken) throw new Error('not now')
      return Promise.resolve(`version: 1\npolicies: [{ name: one, limit: ${limit}, per: 1m }]`)
    },
    watch: () => () => {},
  })
  isBroken = true
  await loaded.reload()
  isBroken = false
  limit = 2
  await loaded.reload()
  expect(loaded.current.map((policy) => policy.limit)).toEqual([2])
})
