import { expect, test } from '@jest/globals'
import { redisUniques } from '@sluice/redis/uniques'
import { RedisHyperLogLog } from '@sluice/sketches'
import { until } from '@sluice/testkit'
import { clusterMembers } from '../cluster-members.ts'

const { members, topicsOfAllShards, plainClient } = clusterMembers()

test('uniques of every shard, with and without windows, are counted together by clusters of ioredis 5 and 6', async () => {
  const topics = await topicsOfAllShards()
  const all = new RedisHyperLogLog()
  const made = members.flatMap(({ client }) =>
    topics.map((name, at) => redisUniques(client, { name, tickMs: 10, window: at % 2 ? '1d' : undefined })),
  )
  for (const [at, uniques] of made.entries()) {
    for (let n = 0; n < 2_000; n++) {
      // the keys of the two clients overlap by half
      const key = `client ${n + (at < topics.length ? 0 : 1_000)}`
      uniques.add(key)
      all.add(key)
    }
  }
  await until(() => made.every((uniques) => uniques.count() === all.count()))
  const plain = plainClient()
  for (const uniques of made) expect(await plain.pfcount(uniques.key as string)).toBe(all.count())
  await Promise.all(made.map((uniques) => uniques.close()))
})
