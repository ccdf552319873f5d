import { describe, expect, test } from '@jest/globals'
import { eventually } from '../../services/eventually.ts'
import { channelMembers } from './channel-members.ts'
import { ownRedis } from './own-redis.ts'

const redis = ownRedis()
const member = channelMembers(redis)

describe('the retained messages of a topic', () => {
  test('are missing for a member that was away for longer, which is notified and continues with later messages', async () => {
    const prefix = redis.prefix()
    const [from, to] = [member(prefix, { retainMs: 1_000 }), member(prefix, { retainMs: 1_000 })]
    to.listen()
    from.say('heard')
    await from.exchange()
    await to.exchange()
    from.say('missed')
    await from.exchange()
    const stored = `${prefix}:{news}:messages`
    await eventually(async () => (await redis.client.exists(stored)) === 0, { what: 'the end of what is retained' })
    from.say('left')
    await from.exchange()
    await to.exchange()
    expect(to.heard).toEqual(['heard', 'left'])
    expect(to.told).toEqual([{ name: 'sync', topic: 'news', missed: true }])
  })

  test('expire without a notification if all members had received them, or joined later', async () => {
    const prefix = redis.prefix()
    const [from, to] = [member(prefix, { retainMs: 1_000 }), member(prefix, { retainMs: 1_000 })]
    to.listen()
    from.say('heard')
    await from.exchange()
    await to.exchange()
    await eventually(async () => (await redis.client.exists(`${prefix}:{news}:messages`)) === 0, { what: 'an end' })
    const late = member(prefix)
    late.listen()
    await late.exchange()
    from.say('more')
    await from.exchange()
    await to.exchange()
    await late.exchange()
    expect(to.heard).toEqual(['heard', 'more'])
    expect(late.heard).toEqual(['more'])
    expect([...to.told, ...late.told]).toEqual([])
  })

  test('use at most maxRetainedBytes per topic, and a member that missed dropped messages is notified', async () => {
    const prefix = redis.prefix()
    const [from, to] = [member(prefix, { maxRetainedBytes: 4_000 }), member(prefix)]
    to.listen()
    from.say('first')
    await from.exchange()
    await to.exchange()
    for (let at = 0; at < 20; at++) {
      from.say(`${at} ${'x'.repeat(1_000)}`)
      await from.exchange()
    }
    const fields = (await redis.client.xrange(`${prefix}:{news}:messages`, '-', '+')).map(([, entry]) => entry[3])
    expect(fields.join('').length).toBeLessThanOrEqual(4_000)
    await to.exchange()
    expect(to.heard.map((text) => text.split(' ')[0])).toEqual(['first', '18', '19'])
    expect(to.told).toEqual([{ name: 'sync', topic: 'news', missed: true }])
  })

  test('are lost with the data of the server, members that had read some are notified, and continue', async () => {
    const prefix = redis.prefix()
    const [from, to] = [member(prefix), member(prefix)]
    to.listen()
    from.say('before')
    await from.exchange()
    await to.exchange()
    await redis.client.flushall()
    from.say('after')
    await from.exchange()
    await to.exchange()
    expect(to.heard).toEqual(['before', 'after'])
    expect(to.told).toEqual([{ name: 'sync', topic: 'news', missed: true }])
  })

  test('may be fewer after a failover to a lagging replica: members that had received more are notified, and continue', async () => {
    const prefix = redis.prefix()
    const [from, to] = [member(prefix), member(prefix)]
    const topic = `${prefix}:{news}`
    to.listen()
    from.say('a')
    await from.exchange()
    const behind = await Promise.all([`${topic}:topic`, `${topic}:messages`].map((key) => redis.client.dumpBuffer(key)))
    from.say('b')
    await from.exchange()
    await to.exchange()
    // like a replica that lags one message behind
    await redis.client.restore(`${topic}:topic`, 0, behind[0] as Buffer, 'REPLACE')
    await redis.client.restore(`${topic}:messages`, 0, behind[1] as Buffer, 'REPLACE')
    await to.exchange()
    expect(to.told).toEqual([{ name: 'sync', topic: 'news', missed: true }])
    from.say('c')
    await from.exchange()
    await to.exchange()
    expect(to.heard).toEqual(['a', 'b', 'c'])
    expect(to.told.length).toBe(1)
  })
})
