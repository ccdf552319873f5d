import { describe, expect, test } from '@jest/globals'
import { eventually } from '../../services/eventually.ts'
import { channelMembers } from './channel-members.ts'
import { ownRedis } from './own-redis.ts'

const redis = ownRedis()
const member = channelMembers(redis)

describe('what a topic retains', () => {
  test('tells who was away for longer than messages are retained, and goes on with what is left', async () => {
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

  test('tells nobody of what was forgotten after everybody had heard it, or before they came', async () => {
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

  test('retains no more than maxRetainedBytes of a topic, and tells who had not heard what went', async () => {
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

  test('tells who read from a server that lost its data, and goes on', async () => {
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

  test('tells who had heard more than a replica that took over knows, and goes on', async () => {
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
    // as a replica has it that is one message behind
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
