import { expect, test } from '@jest/globals'
import { prometheusText } from '@sluice/fleet/metrics'
import { createInsight, type InsightOptions } from '@sluice/insight'
import { type Backend, createLimiter, type Limiter, memoryBackend } from '@sluice/limiter-core'
import { FakeClock } from '@sluice/testkit'
import { PromisedBackend } from '../../contracts/async-backend.ts'

const MINUTES = 60_000
const ban = { after: 2, within: '1m', for: '10m', growth: 2 } as const

function watched(options: InsightOptions = {}, backendOf = (clock: FakeClock): Backend => memoryBackend({ clock })) {
  const clock = new FakeClock({ wallMs: 1_700_000_000_000, nowMs: 1_000 })
  const insight = createInsight({ clock, privacy: 'full', ...options })
  const backend = backendOf(clock)
  const limiterOf = (): Limiter =>
    createLimiter({ name: 'api', limit: 1, window: '1m', ban, clock, observers: [insight], backend, shared: true })
  const limiter = limiterOf()
  const banned = async (key: string): Promise<void> => {
    for (let times = 0; times < 3; times++) await limiter.take(key)
    for (let times = 0; times < 5; times++) await limiter.peek('another key')
  }
  return { clock, insight, limiter, limiterOf, banned }
}

test('a snapshot lists the banned keys with the end of their bans', async () => {
  const { clock, insight, banned } = watched()
  await banned('one')
  clock.advance(1_000)
  await banned('two')
  clock.advance(1_000)
  const { bans, at } = insight.snapshot()
  expect(bans).toEqual([
    { id: 'two', key: 'two', policy: 'api', endsAt: at + 10 * MINUTES - 1_000, level: 0 },
    { id: 'one', key: 'one', policy: 'api', endsAt: at + 10 * MINUTES - 2_000, level: 0 },
  ])
  clock.advance(10 * MINUTES - 1_000)
  expect(insight.snapshot().bans).toEqual([])
  expect(prometheusText(insight)).toContain('sluice_bans_total{policy="api"} 2')
  expect(insight.snapshot().events.map(({ text }) => text)).toContain('key=two policy=api ms=600000 level=0')
  await insight.close()
})

test('an operator lifts a ban, and the key starts again', async () => {
  const { clock, insight, limiter, banned } = watched()
  await banned('one')
  clock.advance(1_000)
  expect((await limiter.take('one')).source).toBe('banned')
  const entry = await insight.control({ action: 'unban', key: 'one', by: 'ops', reason: 'a test of ours' })
  expect(entry).toMatchObject({ action: 'unban', key: 'one' })
  expect(insight.snapshot().bans).toEqual([])
  expect(insight.controls()).toEqual([])
  expect(insight.audit()[0].text).toBe('ops: ban of key one lifted in all policies (a test of ours)')
  expect(await insight.undo(entry.id)).toBe(false)
  // the count of the policy is not reset
  expect(await limiter.take('one')).toMatchObject({ allowed: false, source: 'memory' })
  clock.advance(MINUTES)
  await banned('one')
  clock.advance(1_000)
  // earlier bans are forgotten
  expect(insight.snapshot().bans).toMatchObject([{ key: 'one', level: 0 }])
  await insight.close()
})

test('a lifted ban ends within about a second in processes that know it', async () => {
  const { clock, insight, limiterOf, banned } = watched({}, (clock) => new PromisedBackend(clock))
  const other = limiterOf()
  await banned('one')
  expect((await other.take('one')).source).toBe('banned')
  await insight.control({ action: 'unban', policy: 'api', key: 'one' })
  expect((await other.take('one')).source).toBe('banned')
  clock.advance(1_000)
  await other.take('one')
  for (let times = 0; times < 5; times++) await other.peek('another key')
  expect((await other.take('one')).source).not.toBe('banned')
  await insight.close()
})

test('a reset also lifts the ban, and the wrong options of a change are rejected', async () => {
  const { insight, limiter, banned } = watched()
  await banned('one')
  await expect(insight.control({ action: 'unban', key: 'one', duration: '1m' })).rejects.toMatchObject({
    code: 'SLUICE_BAD_OPTION',
  })
  await expect(insight.control({ action: 'unban', key: 'one', policy: 'none' })).rejects.toMatchObject({
    code: 'SLUICE_UNKNOWN_POLICY',
  })
  await insight.control({ action: 'reset', key: 'one' })
  expect((await limiter.take('one')).allowed).toBe(true)
  await insight.close()
})
