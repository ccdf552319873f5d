import { describe, expect, test } from '@jest/globals'
import { redisChannel } from '@sluice/redis'
import { channelContract } from '@sluice/testkit'
import { eventually } from '../../services/eventually.ts'
import { channelMembers, tickMs } from './channel-members.ts'
import { ownRedis } from './own-redis.ts'

const redis = ownRedis()
const member = channelMembers(redis)

describe('redisChannel', () => {
  channelContract({ describe, test }, () => {
    const prefix = redis.prefix()
    const members: ReturnType<typeof member>[] = []
    return {
      open: () => {
        const made = member(prefix)
        members.push(made)
        return made.channel
      },
      exchange: async () => {
        // sent with one tick, and received with the next tick of each member
        for (let round = 0; round < 2; round++) for (const one of members) await one.exchange()
      },
      close: () => {},
    }
  })

  test('sends retained messages to new members, and only later messages to another receiver of the same process', async () => {
    const prefix = redis.prefix()
    const early = member(prefix)
    for (const text of ['a', 'b', 'c']) early.say(text)
    await early.exchange()
    const late = member(prefix)
    late.listen()
    await late.exchange()
    expect(late.heard).toEqual(['a', 'b', 'c'])
    const further: string[] = []
    late.channel.subscribe('news', (bytes) => further.push(Buffer.from(bytes).toString()))
    early.say('d')
    await early.exchange()
    await late.exchange()
    expect(late.heard).toEqual(['a', 'b', 'c', 'd'])
    expect(further).toEqual(['d'])
    expect(late.told).toEqual([])
  })

  test('sends and receives everything of a tick in one call', async () => {
    const prefix = redis.prefix()
    const [from, to] = [member(prefix), member(prefix)]
    from.listen()
    to.listen()
    await redis.client.config('RESETSTAT')
    for (let at = 0; at < 500; at++) from.say(String(at))
    await from.tick(() => to.heard.length === 0, 'nothing')
    from.clock.advance(tickMs)
    const calls = async (): Promise<number> => {
      const stats = await redis.client.info('commandstats')
      return [...stats.matchAll(/cmdstat_eval(?:sha)?:calls=(\d+).*?failed_calls=(\d+)/g)].reduce(
        (sum, [, called, failed]) => sum + Number(called) - Number(failed),
        0,
      )
    }
    await eventually(async () => (await calls()) > 0, { what: 'a call' })
    expect(await calls()).toBe(1)
    await to.exchange()
    expect(to.heard.length).toBe(500)
    expect(await calls()).toBe(3)
  })
})

describe('redisChannel rejects', () => {
  const bad = (build: () => unknown, code: string): void => {
    expect(build).toThrow(expect.objectContaining({ code }))
    expect(build).toThrow(/expected .+, received ./)
  }

  test.each([
    ['an unknown option', { tick: 5 }, 'SLUICE_BAD_OPTION'],
    ['a prefix with braces', { prefix: '{a}' }, 'SLUICE_BAD_OPTION'],
    ['a tick of 0', { tickMs: 0 }, 'SLUICE_BAD_OPTION'],
    ['a tick as a string', { tickMs: 'often' }, 'SLUICE_BAD_DURATION'],
    ['messages retained for 10 ms', { retainMs: 10 }, 'SLUICE_BAD_OPTION'],
    ['messages retained for two days', { retainMs: '2d' }, 'SLUICE_BAD_OPTION'],
    ['a fractional byte count', { maxMessageBytes: 0.5 }, 'SLUICE_BAD_OPTION'],
    ['a buffer smaller than a message', { maxMessageBytes: 100, maxUnsentBytes: 100 }, 'SLUICE_BAD_OPTION'],
    ['a retention of 0 bytes', { maxRetainedBytes: 0 }, 'SLUICE_BAD_OPTION'],
  ])('%s', (_what, options, code) => {
    bad(() => redisChannel(redis.client, options as never), code)
  })

  test('a value that is not a client', () => {
    bad(() => redisChannel('redis://localhost' as never), 'SLUICE_BAD_OPTION')
  })

  test('messages above maxMessageBytes', () => {
    const { channel } = member(redis.prefix(), { maxMessageBytes: 10 })
    bad(() => channel.publish('news', new Uint8Array(11)), 'SLUICE_BAD_MESSAGE')
    expect(() => channel.publish('news', new Uint8Array(10))).not.toThrow()
  })
})

test('sends urgent messages at once, together with earlier pending messages', async () => {
  const prefix = redis.prefix()
  const [from, to] = [member(prefix), member(prefix)]
  to.listen()
  from.say('gathered')
  from.channel.publish('news', Buffer.from('urgent'), { urgent: true })
  await eventually(
    async () => {
      await to.exchange()
      return to.heard.length > 0
    },
    { what: 'an urgent message without a tick of its sender' },
  )
  expect(to.heard).toEqual(['gathered', 'urgent'])
})
