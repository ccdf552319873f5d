import { expect, test } from '@jest/globals'
import { scriptRunner } from '@sluice/redis'
import { GlideClusterClient } from '@valkey/valkey-glide'
import { forTests } from '../../services/for-tests.ts'
import { startRedisCluster } from '../../services/redis/redis-cluster.ts'

const cluster = forTests(
  () => startRedisCluster(),
  (one) => one.stop(),
)

test('many calls at once of a script that no server of the cluster knows are evaluated, over valkey-glide', async () => {
  const addresses = cluster.current.ports.map((port) => ({ host: '127.0.0.1', port }))
  const client = await GlideClusterClient.createClient({ addresses, requestTimeout: 20_000 })
  try {
    const runner = scriptRunner(client)
    for (let time = 0; time < 5; time++) {
      const script = { name: `new ${time}`, text: `return ARGV[1] .. '${time}'` }
      const calls = Array.from({ length: 600 }, (_, call) => runner.run(script, [`key ${call % 3}`], ['a']))
      expect(new Set(await Promise.all(calls))).toEqual(new Set([`a${time}`]))
    }
  } finally {
    client.close()
  }
})
