import { once } from 'node:events'
import { expect, test } from '@jest/globals'
import { hashSlot, scriptRunner } from '@sluice/redis'
import { forTests } from '../../services/for-tests.ts'
import { startRedisCluster } from '../../services/redis/redis-cluster.ts'

const cluster = forTests(
  () => startRedisCluster(),
  (one) => one.stop(),
)

test.each(['{app}:', 'app:', ''])('the node of a key is found if the client adds the prefix %p', async (keyPrefix) => {
  const client = cluster.current.client({ keyPrefix })
  if (client.status !== 'ready') await once(client, 'ready')
  const runner = scriptRunner(client)
  for (const key of ['sluice:{a}:b', 'sluice:{b}:b', 'sluice:{c}:b', 'sluice:{d}:b']) {
    const { port } = await cluster.current.masterOf(hashSlot(keyPrefix + key))
    expect(runner.serverOf?.(key)).toBe(`127.0.0.1:${port}`)
  }
})
