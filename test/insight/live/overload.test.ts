import { describe, expect, it } from '@jest/globals'
import { createInsight, type Insight, type InsightSnapshot } from '@sluice/insight'
import { createInflightLimiter, type Priority } from '@sluice/limiter-core'
import { adaptive, prioritizedInflight } from '@sluice/overload'
import { FakeClock } from '@sluice/testkit'
import { endedAfterEach } from '../../services/for-tests.ts'
import { Hub } from '../../sketches/fleet/hub.ts'

const SECRET = 'a secret of all processes'
const open = endedAfterEach<Insight>((insight) => insight.close())

/** Processes that share a clock and a channel. */
function fleetOf(size: number): { readonly clock: FakeClock; readonly members: readonly Insight[] } {
  const [clock, hub] = [new FakeClock(), new Hub()]
  const members = Array.from({ length: size }, () => createInsight({ clock, channel: hub.join(), secret: SECRET }))
  open.push(...members)
  return { clock, members }
}

function valuesOf({ timeline }: InsightSnapshot, measure: string, priority?: Priority): readonly (number | null)[] {
  return timeline.series.find((one) => one.measure === measure && one.priority === priority)?.values ?? []
}

describe('a cap with priorities', () => {
  it('shows permits and denials by priority, denials by reason, and requests that wait', async () => {
    const { clock, members } = fleetOf(1)
    const backend = prioritizedInflight({ queue: { max: 1, maxWaitMs: 100 }, clock })
    const cap = createInflightLimiter({ name: 'shop', limit: 1, backend, clock, observers: members })
    await cap.acquire('', { priority: 'critical' })
    const waiting = cap.acquire('', { priority: 'high' })
    await cap.acquire('', { priority: 'low' })
    expect(members[0].snapshot().caps).toMatchObject([
      {
        ...{ name: 'shop', limit: 1, held: 1, waiting: 1, denied: 1 },
        byPriority: [
          { priority: 'critical', admitted: 1, denied: 0, perSecond: { admitted: 1, denied: 0 } },
          { priority: 'low', admitted: 0, denied: 1, perSecond: { admitted: 0, denied: 1 } },
        ],
        byReason: [{ reason: 'queue-full', denied: 1 }],
      },
    ])
    clock.advance(100)
    expect(await waiting).toBeUndefined()
    clock.advance(30_000)
    const [shop] = members[0].snapshot().caps
    expect(shop.byPriority.map(({ perSecond }) => perSecond.denied)).toEqual([0, 0, 0])
    expect(shop.byReason).toEqual([
      { reason: 'queue-full', denied: 1 },
      { reason: 'timeout', denied: 1 },
    ])
  })

  it('shows its objective beside what was measured, in all processes', async () => {
    const { clock, members } = fleetOf(2)
    const limit = adaptive({ target: { p95: '250ms' } })
    const caps = members.map((member) => createInflightLimiter({ name: 'shop', limit, clock, observers: [member] }))
    const fixed = createInflightLimiter({ name: 'other', limit: 3, clock, observers: [members[0]] })
    fixed.acquire()?.release()
    for (let request = 1; request <= 100; request++) {
      const permit = caps[request % 2].acquire()
      clock.advance(request)
      permit?.release()
    }
    clock.advance(2_000)
    for (const member of members) {
      const [other, shop] = member.snapshot().caps
      expect(other.objective).toBeUndefined()
      expect(shop.objective).toMatchObject({ quantile: 0.95, targetMs: 250 })
      expect(Math.abs((shop.objective?.measuredMs ?? 0) - 95)).toBeLessThan(3)
    }
  })

  it('has a timeline of its limit, permits, latency and denials', async () => {
    const { clock, members } = fleetOf(1)
    const limit = adaptive({ min: 1, max: 100, initial: 8, algorithm: 'aimd', timeout: 50 })
    const cap = createInflightLimiter({ name: 'shop', limit, clock, observers: members })
    const work = (requests: number, ms: number): void => {
      for (let request = 0; request < requests; request++) {
        const permit = cap.acquire()
        clock.advance(ms)
        permit?.release()
      }
    }
    work(200, 20)
    work(100, 100)
    cap.acquire('', { weight: 8, priority: 'low' })
    clock.advance(2_000)
    const snapshot = members[0].snapshot()
    const [limits, held, p50] = ['limit', 'held', 'p50'].map((measure) => valuesOf(snapshot, measure))
    expect(snapshot.timeline).toMatchObject({ startAt: Date.UTC(2026, 0, 1), stepMs: 2_000 })
    expect(limits[0]).toBe(8)
    expect(limits.at(-2)).toBe(cap.limit)
    expect(cap.limit).toBeLessThan(8)
    expect(held.slice(0, 6)).toEqual([1, 1, 1, 1, 1, 1])
    expect([p50[0], p50[5]]).toEqual([20, 100])
    expect(valuesOf(snapshot, 'denied', 'low').reduce((sum: number, value) => sum + (value ?? 0), 0)).toBe(1)
    expect(valuesOf(snapshot, 'waiting')).toEqual([])
    clock.advance(600_000)
    expect(valuesOf(members[0].snapshot(), 'p50')).toEqual([])
    expect(valuesOf(members[0].snapshot(), 'limit')).toHaveLength(150)
  })
})

describe('caps of several processes', () => {
  it('add up their limits if each process has its own places, and share them otherwise', async () => {
    const { clock, members } = fleetOf(3)
    const shared = prioritizedInflight({ clock })
    for (const member of members) {
      createInflightLimiter({ name: 'own', limit: 5, clock, observers: [member] }).acquire()
      const backend = { acquire: () => shared.acquire('') }
      await createInflightLimiter({ name: 'shared', limit: 9, backend, clock, observers: [member] }).acquire()
    }
    clock.advance(2_000)
    expect(members[0].snapshot().caps).toMatchObject([
      { name: 'own', limit: 15, held: 3, byPriority: [{ priority: 'normal', admitted: 3 }] },
      { name: 'shared', limit: 9, held: 3 },
    ])
    // the last step has just begun
    expect(valuesOf(members[0].snapshot(), 'limit').slice(-2)).toEqual([15, null])
  })

  it('combine their latencies', () => {
    const { clock, members } = fleetOf(2)
    for (const [index, member] of members.entries()) {
      const cap = createInflightLimiter({ name: 'own', limit: 5, clock, observers: [member] })
      const permits = [cap.acquire(), cap.acquire()]
      clock.advance(100 + 100 * index)
      for (const permit of permits) permit?.release()
    }
    clock.advance(2_000)
    for (const member of members) {
      const p99 = valuesOf(member.snapshot(), 'p99').find((value) => value !== null)
      expect(p99).toBeCloseTo(200, -1)
    }
  })
})

describe('requests that a policy sheds', () => {
  it('are shown by priority in all processes, with the highest pressure and its signal', () => {
    const { clock, members } = fleetOf(2)
    const shed = (member: Insight, priority: Priority, pressure: number, shadow = false): void => {
      member.event('shed', { policy: 'api', priority, pressure, probability: 1, signal: `signal ${pressure}`, shadow })
    }
    clock.advance(1_000)
    shed(members[0], 'low', 0.4)
    shed(members[1], 'low', 0.9)
    shed(members[1], 'sheddable', 0.7)
    shed(members[1], 'sheddable', 0.7, true)
    clock.advance(1_000)
    for (const member of members) {
      const { sheds, events } = member.snapshot()
      expect(sheds).toMatchObject([
        {
          ...{ policy: 'api', shadow: 1, pressure: 0.9, signal: 'signal 0.9' },
          byPriority: [
            { priority: 'low', shed: 2 },
            { priority: 'sheddable', shed: 1 },
          ],
        },
      ])
      expect(sheds[0].byPriority[0].perSecond).toBeGreaterThan(0)
      // too frequent to be listed
      expect(events).toEqual([])
    }
    clock.advance(20_000)
    const [api] = members[0].snapshot().sheds
    expect(api).toMatchObject({ pressure: null, signal: null })
    expect(api.byPriority.map(({ shed, perSecond }) => [shed, perSecond])).toEqual([
      [2, 0],
      [1, 0],
    ])
  })

  it('with malformed data do no harm', () => {
    const { clock, members } = fleetOf(1)
    for (const value of [undefined, null, Number.NaN, -1, 7, 'x'.repeat(1_000), {}, '<b>']) {
      members[0].event('shed', { policy: value, priority: value, pressure: value, signal: value, shadow: value })
    }
    clock.advance(1_000)
    for (const { pressure, byPriority } of members[0].snapshot().sheds) {
      expect(pressure === null || (pressure >= 0 && pressure <= 1)).toBe(true)
      expect(byPriority.map(({ priority }) => priority)).toEqual(['normal'])
    }
  })
})
