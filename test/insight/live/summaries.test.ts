import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { createInsight, type Insight, type InsightOptions, type InsightSnapshot } from '@sluice/insight'
import { byIp, type Clock, createInflightLimiter, createLimiter } from '@sluice/limiter-core'
import { FakeClock } from '@sluice/testkit'
import { root } from '../../repository.ts'
import { endedAfterEach } from '../../services/for-tests.ts'
import { decisionOf, requestOf } from './observed.ts'

const open = endedAfterEach<Insight>((insight) => insight.close())

function opened(options: InsightOptions = {}): { clock: FakeClock; insight: Insight } {
  const clock = new FakeClock()
  const insight = createInsight({ clock, ...options })
  open.push(insight)
  return { clock, insight }
}

function policyOf({ policies }: InsightSnapshot, name = 'api'): InsightSnapshot['policies'][number] {
  const found = policies.find((policy) => policy.name === name)
  if (!found) throw new Error(`no policy ${name}`)
  return found
}

describe('policy decisions', () => {
  it('are counted at once', async () => {
    const { clock, insight } = opened()
    const policies = [{ name: 'api', limit: 3, window: 60_000 }]
    const limiter = createLimiter({ policies, clock, observers: [insight] })
    for (let request = 0; request < 5; request++) await limiter.take('acme-corporation')
    const snapshot = insight.snapshot()
    expect(policyOf(snapshot)).toMatchObject({
      limit: 3,
      windowMs: 60_000,
      unit: 'requests',
      modes: { enforce: 1, shadow: 0 },
      total: { allowed: 3, denied: 2, shadowDenied: 0, uncounted: 0 },
      nearest: { key: 'acme…', usedShare: 1 },
      topAllowed: [{ key: 'acme…', count: 3, error: 0 }],
      topDenied: [{ key: 'acme…', count: 2, error: 0 }],
    })
    expect(snapshot).toMatchObject({ isWholeFleet: false, deniedShare: 0.4, uniques: { hour: 1, day: 1 } })
    expect(snapshot.backends).toEqual([{ name: 'memory', state: 'ok', sinceMs: 0, lastError: null }])
    limiter.close()
  })

  it('include shadow denials and answers of a failure rule', () => {
    const { insight } = opened()
    insight.decided('a', decisionOf({ allowed: false, shadow: true }))
    insight.decided('a', decisionOf({ counted: false }))
    expect(policyOf(insight.snapshot())).toMatchObject({
      modes: { enforce: 1, shadow: 0 },
      total: { allowed: 1, denied: 0, shadowDenied: 1, uncounted: 1 },
    })
  })

  it('have rates of the last 10 s and of the last hour', () => {
    const { clock, insight } = opened()
    for (let second = 0; second < 20; second++) {
      for (let request = 0; request < 6; request++) insight.decided('a', decisionOf({ allowed: request > 0 }))
      clock.advance(1_000)
    }
    const busy = insight.snapshot()
    expect(busy.ratePerSecond.now).toBeCloseTo(6, 0)
    expect(busy.ratePerSecond.lastHour).toBe(6)
    expect(busy.deniedShare).toBeCloseTo(1 / 6)
    clock.advance(12_000)
    expect(insight.snapshot()).toMatchObject({ ratePerSecond: { now: 0 }, deniedShare: 0 })
    expect(policyOf(insight.snapshot()).nearest).toBeUndefined()
  })

  it('are kept for a day by minute, policy and outcome', () => {
    const { clock, insight } = opened()
    insight.decided('a', decisionOf())
    clock.advance(60_000)
    insight.decided('a', decisionOf({ allowed: false }))
    insight.decided('a', decisionOf({ allowed: false }))
    const { history } = insight.snapshot()
    expect(history).toMatchObject({ startAt: Date.UTC(2026, 0, 1), stepMs: 60_000 })
    expect(history.series).toEqual([
      { policy: 'api', outcome: 'allowed', values: [1, 0] },
      { policy: 'api', outcome: 'denied', values: [0, 2] },
    ])
    clock.stepWall(1_440 * 60_000)
    clock.advance(1_000)
    expect(insight.snapshot().history.series).toEqual([])
    expect(policyOf(insight.snapshot()).total).toMatchObject({ allowed: 1, denied: 2 })
  })

  it('lose their top keys after ten minutes', () => {
    const { clock, insight } = opened({ privacy: 'full' })
    insight.decided('acme', decisionOf())
    clock.advance(301_000)
    insight.decided('other', decisionOf())
    expect(policyOf(insight.snapshot()).topAllowed.map(({ key }) => key)).toEqual(['acme', 'other'])
    clock.advance(300_000)
    expect(policyOf(insight.snapshot()).topAllowed.map(({ key }) => key)).toEqual(['other'])
    clock.advance(600_000)
    expect(policyOf(insight.snapshot()).topAllowed).toEqual([])
  })
})

describe('caps, routes, backends and events', () => {
  it('counts the permits of caps, how long they are held, and the maximum', async () => {
    const { clock, insight } = opened()
    const cap = createInflightLimiter({ name: 'jobs', limit: 2, clock, observers: [insight] })
    const permits = [await cap.acquire(), await cap.acquire()]
    await cap.acquire()
    clock.advance(100)
    for (const permit of permits) permit?.release()
    clock.advance(1_000)
    const [jobs] = insight.snapshot().caps
    expect(jobs).toEqual({
      name: 'jobs',
      limit: 2,
      held: 0,
      waiting: 0,
      peak: 2,
      denied: 1,
      byPriority: [{ priority: 'normal', admitted: 2, denied: 1, perSecond: expect.anything() }],
      byReason: [{ reason: 'full', denied: 1 }],
      holdMs: { p50: 100, p90: 100, p99: 100 },
    })
    expect(insight.snapshot().history.caps).toEqual([{ cap: 'jobs', values: [2] }])
  })

  it('measures a route once from the decision to the end of the response', () => {
    const { clock, insight } = opened()
    for (let request = 1; request <= 100; request++) {
      const { request: seen, end } = requestOf('/users/:id')
      insight.decided('a', decisionOf(), seen)
      insight.decided('a', decisionOf({ policy: { ...decisionOf().binding.policy, name: 'second' } }), seen)
      clock.advance(request / 10)
      end()
    }
    const { request: denied, end } = requestOf('/users/:id')
    insight.decided('a', decisionOf({ allowed: false }), denied)
    clock.advance(5_000)
    end()
    clock.advance(1_000)
    const [users, ...others] = insight.snapshot().routes
    expect(others).toEqual([])
    expect(users).toMatchObject({ route: '/users/:id', method: 'GET', perSecond: 100 / 6.505 })
    expect(users.p50).toBeCloseTo(5, 0)
    expect(users.p99).toBeCloseTo(10, 0)
  })

  it('counts unique clients by route', () => {
    const { clock, insight } = opened({ unique: { by: byIp(), per: 'route' } })
    for (let client = 0; client < 200; client++) {
      const { request, end } = requestOf(client % 4 === 0 ? '/rare' : '/usual', `198.51.100.${client}`)
      insight.decided('same', decisionOf(), request)
      end()
    }
    clock.advance(1_000)
    const { hour, day, byRoute = [] } = insight.snapshot().uniques
    expect([hour, day].map((count) => Math.round(count / 20))).toEqual([10, 10])
    const rare = byRoute.find(({ route }) => route === '/rare')
    const usual = byRoute.find(({ route }) => route === '/usual')
    expect(rare?.day).toBeGreaterThan(40)
    expect(rare?.day).toBeLessThan(60)
    expect(usual?.hour).toBeGreaterThan(120)
    clock.stepWall(3_600_000)
    clock.advance(1_000)
    expect(insight.snapshot().uniques).toMatchObject({ hour: 0, day })
    clock.stepWall(24 * 3_600_000)
    clock.advance(1_000)
    expect(insight.snapshot().uniques).toMatchObject({ hour: 0, day: 0 })
  })

  it('shows backends as failing until they answer again', () => {
    const { clock, insight } = opened()
    const state = (): unknown => insight.snapshot().backends[0]
    insight.event('backendFailed', { backend: 'redis', error: new Error('gone') })
    clock.advance(1_000)
    expect(state()).toEqual({ name: 'redis', state: 'failing', sinceMs: 1_000, lastError: 'Error: gone' })
    insight.event('breaker', { backend: 'redis', state: 'open', cause: 'timeout' })
    clock.advance(20_000)
    expect(state()).toMatchObject({ state: 'open', sinceMs: 20_000, lastError: 'timeout' })
    insight.event('breaker', { backend: 'redis', state: 'closed', cause: 'timeout' })
    expect(state()).toMatchObject({ state: 'ok', sinceMs: 0, lastError: 'timeout' })
    const { events } = insight.snapshot()
    expect(events.map(({ name }) => name)).toEqual(['breaker', 'backendFailed'])
    expect(events[0].text).toBe('backend=redis state=open cause=timeout')
  })
})

describe('processes and options', () => {
  it('shows its own process, with the version of the manifest', () => {
    const { clock, insight } = opened()
    clock.advance(2_000)
    const { version } = JSON.parse(readFileSync(join(root, 'packages/insight/package.json'), 'utf8'))
    const { processes, at } = insight.snapshot()
    expect(processes).toMatchObject([
      { pid: process.pid, version, startedAt: at - 2_000, lastAt: at, uptimeMs: 2_000, isSelf: true },
    ])
    expect(processes[0].memoryBytes).toBeGreaterThan(1e7)
  })

  it('shows the timer delay of the process and its failing backends', () => {
    let now = 0
    let tick = (): void => {}
    const late: Clock = {
      now: () => now,
      wall: () => now,
      after: (_ms, run) => {
        tick = run
        return () => {}
      },
    }
    const insight = createInsight({ clock: late })
    const advance = (ms: number): void => {
      now += ms
      tick()
    }
    advance(1_000)
    expect(insight.snapshot().processes[0]).toMatchObject({ lagMs: 0, failing: [] })
    insight.event('breaker', { backend: 'redis', state: 'open', cause: 'timeout' })
    advance(1_250)
    expect(insight.snapshot().processes[0]).toMatchObject({ lagMs: 250, failing: ['redis'] })
  })

  it('clears its timers on close', async () => {
    const clock = new FakeClock()
    const insight = createInsight({ clock })
    expect(clock.pending).toBe(1)
    await insight.close()
    expect(clock.pending).toBe(0)
  })

  it.each([
    ['secret', 'short'],
    ['channel', {}],
    ['topic', '{x}'],
    ['unique', { per: 'method' }],
    ['unique', { by: 'ip' }],
  ])('rejects a bad %s', (name, value) => {
    const make = (): unknown => createInsight({ [name]: value } as never)
    expect(make).toThrow(expect.objectContaining({ code: 'SLUICE_BAD_OPTION' }))
  })
})
