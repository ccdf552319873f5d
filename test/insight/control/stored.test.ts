import { afterEach, expect, test } from '@jest/globals'
import { MemoryLedger } from '@sluice/counters'
import { type ControlOptions, createInsight, type Insight } from '@sluice/insight'
import { createInflightLimiter, createLimiter, memoryBackend, type RecordStore } from '@sluice/limiter-core'
import { afterThisTurn } from '@sluice/limiter-core/backend'
import { redisRecords } from '@sluice/redis'
import { eachSeed, FakeClock } from '@sluice/testkit'
import { ownRedis } from '../../redis/channel/own-redis.ts'
import { Hub } from '../../sketches/fleet/hub.ts'

const SECRET = 'a secret of all processes'
const START = 1_700_000_000_000
const redis = ownRedis()
const open: Insight[] = []

afterEach(async () => {
  await Promise.all(open.splice(0).map((insight) => insight.close()))
})

/** Processes that start and stop over one store. */
class Site {
  readonly clock = new FakeClock({ wallMs: START })
  readonly hub = new Hub()
  readonly store: RecordStore
  isDown = false
  stored: string[] = []

  constructor(inner: (clock: FakeClock) => RecordStore = (clock) => new MemoryLedger(clock).openRecords('limits')) {
    const store = inner(this.clock)
    const guarded = async <T>(call: () => Promise<T>): Promise<T> => {
      if (this.isDown) throw Object.assign(new Error('down'), { code: 'CONNECTION' })
      return call()
    }
    this.store = {
      put: (id, text, endsAt) => {
        this.stored.push(text)
        return guarded(() => store.put(id, text, endsAt))
      },
      all: () => guarded(() => store.all()),
    }
  }

  start(control: ControlOptions = {}, secret = SECRET) {
    const { clock, store } = this
    const insight = createInsight({
      clock,
      secret,
      channel: this.hub.join(),
      control: { limits: { api: { min: 1, max: 9 } }, store, ...control },
    })
    open.push(insight)
    const policies = [{ name: 'api', limit: 2, window: '1h', algorithm: 'fixed-window' }] as const
    const limiter = createLimiter({ policies, clock, observers: [insight], backend: memoryBackend({ clock }) })
    return { insight, limiter, limit: () => limiter.peek('key').binding.policy.limit }
  }

  /** Stops all processes. */
  async stop(): Promise<void> {
    await Promise.all(open.splice(0).map((insight) => insight.close()))
  }

  async pass(ms: number): Promise<void> {
    // nothing happens while no process runs
    if (open.length === 0) return this.clock.advance(ms)
    for (let passed = 0; passed < ms; passed += 1_000) {
      this.clock.advance(Math.min(1_000, ms - passed))
      for (let turn = 0; turn < 3; turn++) await new Promise<void>((resolve) => afterThisTurn(resolve))
    }
  }
}

test.each<[string, (clock: FakeClock) => RecordStore]>([
  ['memory', (clock) => new MemoryLedger(clock).openRecords('limits')],
  ['Redis', () => redisRecords(redis.client, { prefix: redis.prefix() })],
])('changes continue after all processes have stopped, for their remaining time: %s', async (name, inner) => {
  const site = new Site(inner)
  // Redis has its own clock
  if (name === 'Redis') site.clock.stepWall(Date.now() - START)
  const first = site.start()
  await first.insight.control({ action: 'limit', policy: 'api', limit: 7, duration: '1h', by: 'ann', reason: 'launch' })
  await first.insight.control({ action: 'block', key: 'villain', duration: '30m', by: 'bob' })
  await site.stop()
  await site.pass(10 * 60_000)
  const second = site.start()
  if (name === 'Redis') await redis.client.ping()
  await site.pass(1_000)
  expect(second.limit()).toBe(7)
  const { retryAfterMs, allowed } = second.limiter.take('villain')
  expect([allowed, retryAfterMs]).toEqual([false, 20 * 60_000 - 1_000])
  expect(second.insight.audit().map(({ text }) => text)).toEqual([
    expect.stringMatching(/^bob: key .* blocked in all policies$/),
    "ann: limit of policy 'api' set to 7 (launch)",
  ])
  await site.pass(50 * 60_000)
  expect(second.limit()).toBe(2)
})

test('a change that was undone, or has ended, remains so, and stays in the audit log for a week', async () => {
  const site = new Site()
  const first = site.start()
  const { id } = await first.insight.control({ action: 'mode', policy: 'api', mode: 'off', by: 'ann', duration: '2h' })
  await site.pass(1_000)
  await first.insight.undo(id, 'bob')
  await site.pass(1_000)
  await first.insight.control({ action: 'limit', policy: 'api', limit: 5, by: 'ann', duration: '1m' })
  await site.pass(1_000)
  await first.insight.control({ action: 'reset', key: 'key', by: 'eve' })
  const before = first.insight.audit().map(({ text, at }) => [text, at])
  await site.stop()
  await site.pass(3_600_000)
  const told: string[] = []
  const second = site.start({ audit: ({ text }) => told.push(text) })
  await site.pass(1_000)
  expect([second.limit(), second.insight.controls()]).toEqual([2, []])
  expect(second.limiter.take('key').counted).toBe(true)
  expect(second.insight.audit().map(({ text, at }) => [text, at])).toEqual([
    ["expired: limit of policy 'api' set to 5", START + 62_000],
    ...before,
  ])
  // these lines were reported when they happened
  expect(told).toEqual([])
  await site.stop()
  await site.pass(8 * 86_400_000)
  const third = site.start()
  await site.pass(1_000)
  expect(third.insight.audit()).toEqual([])
})

test('a change applies while the store is down, and is stored when it works again', async () => {
  const site = new Site()
  site.isDown = true
  const first = site.start()
  await site.pass(1_000)
  await first.insight.control({ action: 'limit', policy: 'api', limit: 4, duration: '1h' })
  expect(first.limit()).toBe(4)
  const failures = () =>
    [...first.insight.metrics()]
      .filter(({ name }) => name === 'sluice_sync_events_total')
      .flatMap(({ samples }) => samples.map(({ labels }) => labels))
  expect(failures()).toContainEqual({ topic: 'sluice.insight.control', event: 'failed' })
  site.isDown = false
  await site.pass(2_000)
  await site.stop()
  const second = site.start()
  await site.pass(1_000)
  expect(second.limit()).toBe(4)
})

test('a change of a cap continues, too', async () => {
  const site = new Site()
  const control = { caps: { uploads: { min: 1, max: 5 } } }
  const capOf = (insight: Insight) => createInflightLimiter({ name: 'uploads', limit: 2, observers: [insight] })
  const first = site.start(control)
  capOf(first.insight)
  const { id } = await first.insight.control({ action: 'block', key: 'villain', cap: 'uploads', duration: '1h' })
  await first.insight.control({ action: 'limit', cap: 'uploads', limit: 5, duration: '1h' })
  await first.insight.undo(id)
  await site.stop()
  const second = site.start(control)
  const cap = capOf(second.insight)
  await site.pass(1_000)
  expect([cap.limit, cap.acquire('villain')]).toEqual([5, expect.anything()])
  expect(second.insight.audit().map(({ event }) => event)).toEqual(expect.arrayContaining(['undone', 'begun', 'begun']))
})

test('a store that never replies delays a change by two seconds', async () => {
  const never = new Promise<never>(() => {})
  const site = new Site(() => ({ put: () => never, all: () => never }))
  const first = site.start()
  let isDone = false
  const made = first.insight.control({ action: 'limit', policy: 'api', limit: 4 }).then(() => {
    isDone = true
  })
  expect(first.limit()).toBe(4)
  await site.pass(3_000)
  expect(isDone).toBe(true)
  await made
})

test('stored changes contain no keys, and records with another secret are ignored and counted', async () => {
  const site = new Site()
  await site.start().insight.control({ action: 'block', key: 'customer@example.com', duration: '1h' })
  expect(site.stored.map((text) => Buffer.from(text, 'base64').toString('latin1')).join()).not.toContain('customer')
  await site.stop()
  const stranger = site.start({}, 'another secret of somebody')
  await site.pass(1_000)
  expect(stranger.limiter.take('customer@example.com').allowed).toBe(true)
  expect(stranger.insight.snapshot().unreadMessages).toBe(1)
})

test('malformed records are ignored', async () => {
  await eachSeed(3, async (random) => {
    const site = new Site()
    await site.start().insight.control({ action: 'limit', policy: 'api', limit: 7, duration: '1h' })
    const [text] = site.stored
    for (let number = 0; number < 50; number++) {
      const bytes = Buffer.from(text, 'base64')
      bytes[random.whole(bytes.length)] ^= 1 + random.whole(255)
      await site.store.put(`bad ${number}`, random.pick([bytes.toString('base64'), text.slice(number), '']), START * 2)
    }
    await site.stop()
    const second = site.start()
    await site.pass(1_000)
    expect(second.limit()).toBe(7)
    expect(second.insight.controls()).toHaveLength(1)
  })
})

test.each([
  ['no store', { store: {} }, 'SLUICE_BAD_OPTION', SECRET],
  ['a store without a secret', { store: { put: () => {}, all: () => {} } }, 'SLUICE_SECRET_MISSING', undefined],
])('%s is rejected', (_what, control, code, secret) => {
  expect(() => createInsight({ control: control as never, secret })).toThrow(expect.objectContaining({ code }))
})
