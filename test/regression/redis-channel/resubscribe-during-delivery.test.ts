import { describe, expect, test } from '@jest/globals'
import { channelMembers } from '../../redis/channel/channel-members.ts'
import { ownRedis } from '../../redis/channel/own-redis.ts'

const redis = ownRedis()
const member = channelMembers(redis)

describe('a receiver that unsubscribes and subscribes again with each message', () => {
  test('receives each message once if there are other receivers', async () => {
    const prefix = redis.prefix()
    const [from, to] = [member(prefix), member(prefix)]
    const heard: string[] = []
    let stop = to.channel.subscribe('news', anew)
    function anew(bytes: Uint8Array): void {
      // a receiver that never unsubscribes would keep the process alive
      if (heard.push(Buffer.from(bytes).toString()) > 9) return
      stop()
      stop = to.channel.subscribe('news', anew)
    }
    to.listen()
    for (const text of ['a', 'b', 'c']) from.say(text)
    await from.exchange()
    await to.exchange()
    expect(heard).toEqual(['a', 'b', 'c'])
    expect(to.heard).toEqual(['a', 'b', 'c'])
  })
})

test('a receiver that subscribes when the last one unsubscribed gets retained messages once', async () => {
  const prefix = redis.prefix()
  const [from, to] = [member(prefix), member(prefix)]
  const heard: string[] = []
  const stop = to.channel.subscribe('news', () => {
    stop()
    to.channel.subscribe('news', (bytes) => heard.push(Buffer.from(bytes).toString()))
  })
  for (const text of ['a', 'b', 'c']) from.say(text)
  await from.exchange()
  await to.exchange()
  await to.exchange()
  expect(heard).toEqual(['a', 'b', 'c'])
})

test('a receiver that another receiver unsubscribed gets nothing more, not even the current message', async () => {
  const prefix = redis.prefix()
  const [from, to] = [member(prefix), member(prefix)]
  const heard: string[] = []
  to.channel.subscribe('news', () => stop())
  const stop = to.channel.subscribe('news', (bytes) => heard.push(Buffer.from(bytes).toString()))
  from.say('a')
  await from.exchange()
  await to.exchange()
  expect(heard).toEqual([])
})

test('a receiver whose promise rejects is reported to observers like one that throws', async () => {
  const prefix = redis.prefix()
  const [from, to] = [member(prefix), member(prefix)]
  const error = new Error('of the receiver')
  to.channel.subscribe('news', async () => {
    throw error
  })
  from.say('a')
  await from.exchange()
  await to.exchange()
  expect(to.told).toEqual([{ name: 'hookFailed', hook: 'receive', error }])
})
