import { describe, expect, test } from '@jest/globals'
import type { ScriptRunner } from '@sluice/limiter-core'
import { scriptRunner } from '@sluice/redis'
import { channelMembers } from './channel-members.ts'
import { ownRedis } from './own-redis.ts'
import { turn } from './ticking.ts'

const redis = ownRedis()
const member = channelMembers(redis)

describe('redisChannel without a server', () => {
  /** A runner that rejects everything until it is repaired. */
  function cut(): ScriptRunner & { mended: boolean } {
    const runner = scriptRunner(redis.client)
    return {
      mended: false,
      run(...call) {
        return this.mended
          ? runner.run(...call)
          : Promise.reject(Object.assign(new Error('cut'), { code: 'CONNECTION' }))
      },
    }
  }

  test('drops the oldest messages that it cannot store, reports how many, and sends the others later', async () => {
    const prefix = redis.prefix()
    const way = cut()
    const from = member(prefix, { maxMessageBytes: 100, maxUnsentBytes: 10 * 164 }, way)
    const to = member(prefix)
    to.listen()
    for (let at = 0; at < 25; at++) from.say(`${at} `.padEnd(100, 'x'))
    await from.exchange()
    await from.exchange()
    expect(from.told).toEqual([
      { name: 'sync', topic: 'news', dropped: 15 },
      { name: 'sync', topic: 'news', failed: 'CONNECTION' },
    ])
    way.mended = true
    await from.exchange()
    await to.exchange()
    expect(to.heard.map((text) => text.split(' ')[0])).toEqual([
      '15',
      '16',
      '17',
      '18',
      '19',
      '20',
      '21',
      '22',
      '23',
      '24',
    ])
    expect(from.told.slice(2)).toEqual([{ name: 'sync', topic: 'news', failed: false }])
  })

  test('closes at once if the runner answers or rejects, with no timer left', async () => {
    for (const way of [undefined, cut()]) {
      const { channel, clock, say } = member(redis.prefix(), {}, way)
      say('last')
      await channel.close()
      expect(clock.pending).toBe(0)
    }
  })

  test('closes after closeMs if the runner does not answer, with no timer left', async () => {
    const { channel, clock, say } = member(redis.prefix(), { closeMs: 500 }, { run: () => new Promise(() => {}) })
    say('last')
    let ended = false
    const end = channel.close().then(() => {
      ended = true
    })
    clock.advance(499)
    await turn()
    expect(ended).toBe(false)
    clock.advance(1)
    await end
    expect(clock.pending).toBe(0)
  })

  test('reports unsent data at close, and nothing afterwards', async () => {
    const prefix = redis.prefix()
    const [from, to] = [member(prefix), member(prefix)]
    for (let at = 0; at < 9; at++) from.say('x'.repeat(100_000))
    await from.channel.close()
    from.say('too late')
    from.listen()
    await from.channel.close()
    to.listen()
    await to.tick(() => to.heard.length === 9, 'what was left')
    expect(to.heard.every((text) => text.length === 100_000)).toBe(true)
  })

  test('continues if a receiver throws, and reports the error', async () => {
    const prefix = redis.prefix()
    const [from, to] = [member(prefix), member(prefix)]
    const error = new Error('of the receiver')
    to.channel.subscribe('news', () => {
      throw error
    })
    to.listen()
    from.say('a')
    from.say('b')
    await from.exchange()
    await to.exchange()
    expect(to.heard).toEqual(['a', 'b'])
    expect(to.told).toEqual([
      { name: 'hookFailed', hook: 'receive', error },
      { name: 'hookFailed', hook: 'receive', error },
    ])
  })
})
