import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from '@jest/globals'
import { rateLimit } from '@sluice/express'
import { memoryBackend } from '@sluice/limiter-core'
import { policies } from '@sluice/policies'
import { FakeClock } from '@sluice/testkit'

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

test('policies that were replaced many times are forgotten', async () => {
  let version = 0
  const text = (): string => {
    return `version: 1\npolicies: [{ name: all, limit: ${10 + version}, per: ${1 + (version % 2)}m, match: { method: M${version} } }]`
  }
  const source = { name: 'policies.yaml', readSync: text, read: async () => text(), watch: () => () => {} }
  const loaded = policies(source)
  const clock = new FakeClock()
  rateLimit({ ...loaded, backend: memoryBackend({ clock }), clock })
  const previous: WeakRef<object>[] = []
  for (version = 1; version <= 60; version++) {
    await loaded.policies.reload()
    previous.push(new WeakRef(loaded.policies.current[0].key as object))
  }
  for (let turn = 0; turn < 3; turn++) {
    await new Promise(setImmediate)
    collect()
  }
  // the limiter is still in use
  expect(loaded.policies.current[0].name).toBe('all')
  expect(previous.filter((one) => one.deref() !== undefined).length).toBeLessThanOrEqual(20)
})
