import { inflateRawSync } from 'node:zlib'
import { describe, expect, it } from '@jest/globals'
import { createInsight, type Insight, type InsightOptions, type InsightSnapshot } from '@sluice/insight'
import type { Channel } from '@sluice/limiter-core'
import { FakeClock, seededRandom } from '@sluice/testkit'
import { endedAfterEach } from '../../services/for-tests.ts'
import { Hub } from '../../sketches/fleet/hub.ts'
import { API, decisionOf, requestOf } from './observed.ts'

const SECRET = 'a secret of all processes'
const TOPIC = 'sluice.insight'
const open = endedAfterEach<Insight>((insight) => insight.close())

/** Processes that share a clock and a channel. */
class Fleet {
  readonly clock = new FakeClock()
  readonly hub = new Hub()

  join(options: InsightOptions = {}, channel: Channel = this.hub.join()): Insight {
    const insight = createInsight({ clock: this.clock, channel, secret: SECRET, ...options })
    open.push(insight)
    return insight
  }

  /** Lets all processes report, twice at most. */
  tick(): void {
    this.clock.advance(1_000)
  }
}

function totals({ policies }: InsightSnapshot): [number, number][] {
  return policies.map(({ total }) => [total.allowed, total.denied])
}

describe('sums over several processes', () => {
  it('equal all decisions exactly, in each of four processes', () => {
    const seed = 20_260_101
    const random = seededRandom(seed)
    const fleet = new Fleet()
    const members = Array.from({ length: 4 }, () => fleet.join({ privacy: 'full' }))
    const sent = { allowed: 0, denied: 0, byKey: new Map<string, number>() }
    for (let second = 0; second < 90; second++) {
      for (let request = 0; request < 20; request++) {
        const allowed = random.whole(4) > 0
        const key = `key ${random.whole(5)}`
        sent[allowed ? 'allowed' : 'denied']++
        if (allowed) sent.byKey.set(key, (sent.byKey.get(key) ?? 0) + 1)
        random.pick(members).decided(key, decisionOf({ allowed }))
      }
      fleet.tick()
    }
    fleet.tick()
    for (const member of members) {
      const snapshot = member.snapshot()
      expect({ seed, totals: totals(snapshot) }).toEqual({ seed, totals: [[sent.allowed, sent.denied]] })
      const [{ topAllowed }] = snapshot.policies
      expect(new Map(topAllowed.map(({ key, count }) => [key, count]))).toEqual(sent.byKey)
      const minutes = snapshot.history.series.map(({ values }) => values.reduce((sum, value) => sum + value))
      expect(minutes).toEqual([sent.allowed, sent.denied])
      expect(snapshot).toMatchObject({ isWholeFleet: true, unreadMessages: 0, uniques: { hour: 5, day: 5 } })
      expect(snapshot.processes.map(({ isSelf }) => isSelf)).toEqual([true, false, false, false])
      expect(snapshot.policies[0].modes).toEqual({ enforce: 4, shadow: 0 })
    }
  })

  it('combine percentiles, caps and backends', () => {
    const fleet = new Fleet()
    const [a, b] = [fleet.join(), fleet.join()]
    for (const [member, durationMs] of [
      [a, 10],
      [b, 20],
      [b, 30],
    ] as const) {
      const { request, end } = requestOf('/slow')
      member.decided('key', decisionOf(), request)
      member.permitAcquired('key', { name: 'jobs', limit: 5 })
      fleet.clock.advance(durationMs)
      end()
    }
    b.permitReleased('key', 40, { name: 'jobs', limit: 5 })
    b.event('breaker', { backend: 'redis', state: 'open', cause: 'timeout' })
    fleet.tick()
    fleet.tick()
    const snapshot = a.snapshot()
    expect(snapshot.routes).toMatchObject([{ route: '/slow', method: 'GET', p50: 20 }])
    expect(snapshot.caps).toMatchObject([{ name: 'jobs', held: 2, peak: 3, holdMs: { p50: 40 } }])
    expect(snapshot.backends).toMatchObject([
      { name: 'memory', state: 'ok' },
      { name: 'redis', state: 'open' },
    ])
    expect(snapshot.events).toMatchObject([{ name: 'breaker' }])
  })
})

describe('processes that start and stop', () => {
  it('a stopped process is removed, its reported counts remain, and nothing counts twice when it returns', async () => {
    const fleet = new Fleet()
    const stays = fleet.join()
    const channel = fleet.hub.join()
    let paused = false
    const goes = fleet.join(
      {},
      { ...channel, publish: (topic, bytes) => (paused ? undefined : channel.publish(topic, bytes)) },
    )
    goes.decided('key', decisionOf())
    goes.permitAcquired('key', { name: 'jobs', limit: 5 })
    fleet.tick()
    fleet.tick()
    paused = true
    goes.decided('key', decisionOf())
    fleet.clock.advance(9_000)
    expect(stays.snapshot()).toMatchObject({ processes: [{ isSelf: true }, {}], caps: [{ held: 1 }] })
    fleet.clock.advance(2_000)
    const without = stays.snapshot()
    expect(without.processes).toHaveLength(1)
    expect(without.caps).toMatchObject([{ held: 0 }])
    expect(totals(without)).toEqual([[1, 0]])
    paused = false
    fleet.tick()
    fleet.tick()
    expect(stays.snapshot().processes).toHaveLength(2)
    expect(totals(stays.snapshot())).toEqual([[2, 0]])
  })

  it('a late process receives totals and uniques, but no earlier minutes', () => {
    const fleet = new Fleet()
    const early = fleet.join()
    for (let key = 0; key < 50; key++) early.decided(`key ${key}`, decisionOf())
    fleet.clock.advance(60_000)
    const late = fleet.join()
    fleet.clock.advance(3_000)
    const snapshot = late.snapshot()
    expect(totals(snapshot)).toEqual([[50, 0]])
    expect(snapshot.uniques).toEqual(early.snapshot().uniques)
    expect(snapshot.history.series).toEqual([])
    expect(snapshot.ratePerSecond).toEqual({ now: 0, lastHour: 0 })
  })

  it('lost and duplicated reports do not change any sum', () => {
    const fleet = new Fleet()
    const watches = fleet.join()
    const channel = fleet.hub.join()
    let tick = 0
    const publish: Channel['publish'] = (topic, bytes) => {
      tick++
      if (tick % 3 === 0) throw new Error('lost')
      channel.publish(topic, bytes)
      channel.publish(topic, bytes)
    }
    const sends = fleet.join({}, { ...channel, publish })
    for (let second = 0; second < 11; second++) {
      sends.decided('key', decisionOf())
      sends.event('saturated', { share: second })
      fleet.tick()
    }
    fleet.clock.advance(3_000)
    expect(totals(watches.snapshot())).toEqual([[11, 0]])
    const texts = watches.snapshot().events.map(({ text }) => text)
    expect(new Set(texts).size).toBe(texts.length)
  })
})

describe('messages', () => {
  it('of another version and invalid messages are ignored and counted', () => {
    const fleet = new Fleet()
    const insight = fleet.join()
    const messages: Uint8Array[] = []
    const spy = fleet.hub.join()
    spy.subscribe(TOPIC, (bytes) => messages.push(bytes))
    insight.decided('key', decisionOf())
    fleet.tick()
    fleet.tick()
    const [message] = messages
    const other = fleet.hub.join()
    const newer = Buffer.from(message)
    newer[0]++
    const broken = [newer, Buffer.alloc(0), Buffer.from('{}'), message.subarray(0, 20), Buffer.alloc(2 ** 20, 1)]
    for (const bytes of broken) other.publish(TOPIC, bytes)
    const snapshot = insight.snapshot()
    expect(snapshot).toMatchObject({ unreadMessages: broken.length, processes: [{ isSelf: true }] })
    expect(totals(snapshot)).toEqual([[1, 0]])
    const [unread] = [...insight.metrics()].filter(({ name }) => name === 'sluice_sync_events_total')
    expect(unread.samples).toEqual([{ labels: { topic: TOPIC, event: 'unread' }, value: broken.length }])
  })

  it.each(['mask', 'hash'] as const)(
    'with privacy %s contain no keys, and a key has the same ID in all processes',
    (privacy) => {
      const fleet = new Fleet()
      const [a, b] = [fleet.join({ privacy }), fleet.join({ privacy })]
      const sent: string[] = []
      for (const member of [a, b]) {
        for (const key of ['customer-1', 'customer-2', 'customer-2']) member.decided(key, decisionOf())
        member.event('quota', { key: 'customer-1', lost: 1 })
      }
      fleet.hub.join().subscribe(TOPIC, (bytes) => sent.push(inflateRawSync(bytes.subarray(1)).toString()))
      fleet.tick()
      fleet.tick()
      expect(sent.length).toBeGreaterThan(1)
      expect(sent.join()).not.toContain('customer')
      expect(a.snapshot().policies[0].topAllowed.map(({ count }) => count)).toEqual([4, 2])
      expect(a.snapshot().policies[0].topAllowed).toEqual(b.snapshot().policies[0].topAllowed)
    },
  )

  it('are small: 5 KB with five policies, and within the size limit of channels at most', () => {
    const fleet = new Fleet()
    const sizes: number[] = []
    fleet.hub.join().subscribe(TOPIC, (bytes) => sizes.push(bytes.length))
    const usual = fleet.join()
    for (let key = 0; key < 1_000; key++) {
      const policy = { ...API, name: `policy ${key % 5}` }
      usual.decided(`198.51.100.${key % 256}`, decisionOf({ policy }))
    }
    fleet.tick()
    fleet.tick()
    expect(Math.max(...sizes)).toBeLessThan(10_000)
    sizes.length = 0
    const full = fleet.join({ privacy: 'full', unique: { per: 'route' } })
    const random = seededRandom(7)
    const hostile = (): string =>
      Array.from({ length: 130 }, () => String.fromCodePoint(0x4e00 + random.whole(20_000))).join('')
    for (let key = 0; key < 2_000; key++) {
      const policy = { ...API, name: `policy ${key % 60}` }
      const { request, end } = requestOf(`/route/${key}/${hostile()}`)
      full.decided(hostile(), decisionOf({ policy, allowed: key % 2 === 0 }), request)
      fleet.clock.advance(0.1)
      end()
    }
    for (let tick = 0; tick < 4; tick++) fleet.tick()
    expect(Math.max(...sizes)).toBeLessThanOrEqual(131_072)
    expect(usual.snapshot().processes).toHaveLength(2)
  })
})
