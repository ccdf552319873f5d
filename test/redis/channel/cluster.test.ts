import { expect, test } from '@jest/globals'
import { until } from '@sluice/testkit'
import { clusterMembers } from '../cluster-members.ts'

const { members, topicsOfAllShards } = clusterMembers()

test('topics of every shard and sums are shared over clusters of ioredis 5 and 6', async () => {
  const topics = await topicsOfAllShards()
  const all = members.map(({ redis, client }) => {
    const channel = redis.redisChannel(client, { tickMs: 10 })
    const sums = redis.redisSums(client, { name: 'hits', tickMs: 10 })
    const heard: Record<string, string> = {}
    for (const topic of topics) {
      channel.subscribe(topic, (bytes) => {
        heard[topic] = (heard[topic] ?? '') + Buffer.from(bytes).toString()
      })
    }
    return { channel, sums, heard }
  })
  for (const [at, { channel, sums }] of all.entries()) {
    for (const topic of topics) for (const letter of 'xyz') channel.publish(topic, Buffer.from(`${letter}${at}`))
    for (let n = 0; n < 100; n++) sums.add('all', n)
  }
  await until(() =>
    all.every(({ sums, heard }) => sums.get('all') === 9_900 && topics.every((topic) => heard[topic]?.length === 6)),
  )
  for (const [at, { heard }] of all.entries()) {
    const other = 1 - at
    expect(heard).toEqual(Object.fromEntries(topics.map((topic) => [topic, `x${other}y${other}z${other}`])))
  }
  await Promise.all(all.flatMap(({ channel, sums }) => [channel.close(), sums.close()]))
})
