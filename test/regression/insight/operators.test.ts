import { expect, test } from '@jest/globals'
import { type AuditLine, type ControlRequest, createInsight, type Insight, type InsightOptions } from '@sluice/insight'
import { createLimiter, memoryBackend, type PolicyInput, type SyncLimiterOptions } from '@sluice/limiter-core'
import { FakeClock } from '@sluice/testkit'
import { endedAfterEach } from '../../services/for-tests.ts'
import { Hub } from '../../sketches/fleet/hub.ts'

const SECRET = 'a secret of all processes'
const API = { name: 'api', limit: 2, window: '1h', algorithm: 'fixed-window' } as const
const LOG = { name: 'log', limit: 3, window: '1h', algorithm: 'sliding-log' } as const
const LIMITS = { api: { min: 1, max: 9 }, log: { min: 1, max: 1_000 } }
const open = endedAfterEach<Insight>((insight) => insight.close())

function process(options: InsightOptions = {}, policies: readonly PolicyInput[] = [API], clock = new FakeClock()) {
  const insight = createInsight({ clock, control: { limits: LIMITS }, ...options })
  open.push(insight)
  const limiterOf = (...others: Insight[]) =>
    createLimiter({
      policies,
      clock,
      observers: [insight, ...others],
      backend: memoryBackend({ clock }),
    } as SyncLimiterOptions)
  return { clock, insight, limiter: limiterOf(), limiterOf }
}

test('a closed insight no longer changes limiters', async () => {
  const { insight, limiterOf } = process()
  await insight.control({ action: 'mode', policy: 'api', mode: 'off' })
  await insight.close()
  expect(limiterOf().take('key').counted).toBe(true)
  await expect(insight.control({ action: 'mode', policy: 'api', mode: 'off' })).rejects.toThrow(/closed/)
  expect(limiterOf().take('key').counted).toBe(true)
})

test('a closed insight explains the configured mode, not the mode that it reverted', async () => {
  const { insight, limiter } = process()
  await insight.control({ action: 'mode', policy: 'api', mode: 'off' })
  await insight.close()
  const { policies } = await insight.explain('key')
  expect(policies).toMatchObject([{ policy: 'api', mode: 'enforce' }])
  expect(limiter.take('key').counted).toBe(true)
})

test('an insight without changes does not end a change of another one', async () => {
  const idle = createInsight({ clock: new FakeClock() })
  const { insight, limiterOf } = process()
  await insight.control({ action: 'mode', policy: 'api', mode: 'off' })
  const limiter = limiterOf(idle)
  await idle.close()
  expect(limiter.take('key').source).toBe('off')
})

test('changes by two insights apply together, and end separately', async () => {
  const clock = new FakeClock()
  const other = process({}, [API], clock).insight
  const { insight, limiterOf } = process({}, [API], clock)
  const limiter = limiterOf(other)
  await insight.control({ action: 'block', key: 'villain', duration: '1h' })
  await other.control({ action: 'limit', policy: 'api', limit: 7, duration: '1m' })
  expect(limiter.take('villain').source).toBe('blocked')
  expect(limiter.peek('key').binding.policy.limit).toBe(7)
  clock.advance(61_000)
  expect(limiter.take('villain').source).toBe('blocked')
  expect(limiter.peek('key').binding.policy.limit).toBe(2)
})

test('the end of a change is in the audit log, even if another change is made before the tick', async () => {
  const { clock, insight } = process()
  await insight.control({ action: 'mode', policy: 'api', mode: 'off', duration: 1_500 })
  clock.advance(1_700)
  await insight.control({ action: 'block', key: 'a key' })
  clock.advance(5_000)
  expect(insight.audit().map(({ event }) => event)).toEqual(['begun', 'ended', 'begun'])
})

test('an invalid limit for one limiter does not remove its other changes', async () => {
  const hub = new Hub()
  const clock = new FakeClock()
  const shared = (): InsightOptions => ({ channel: hub.join(), secret: SECRET })
  const wide = process(shared(), [API, { ...LOG, limit: 900, algorithm: 'sliding-window' }], clock)
  const narrow = process(shared(), [API, LOG], clock)
  await wide.insight.control({ action: 'limit', policy: 'api', limit: 5 })
  await wide.insight.control({ action: 'limit', policy: 'log', limit: 500 })
  expect(narrow.insight.audit()[0]).toMatchObject({ event: 'failed', text: expect.stringContaining('log') })
  expect(narrow.limiter.peek('key').verdicts.map(({ policy }) => policy.limit)).toEqual([5, 3])
})

test('a limiter that is created later reports a limit that is invalid for it', async () => {
  const { insight, clock } = process({}, [{ ...LOG, limit: 900, algorithm: 'sliding-window' }])
  await insight.control({ action: 'limit', policy: 'log', limit: 500 })
  const later = createLimiter({ policies: [LOG], clock, observers: [insight] })
  expect(later.peek('key').binding.policy.limit).toBe(3)
  expect(insight.audit()[0]).toMatchObject({ event: 'failed' })
})

test('the user who reverts a change is validated, and no process stops receiving changes', async () => {
  const hub = new Hub()
  const clock = new FakeClock()
  const one = process({ channel: hub.join(), secret: SECRET }, [API], clock)
  const two = process({ channel: hub.join(), secret: SECRET }, [API], clock)
  const { id } = await one.insight.control({ action: 'mode', policy: 'api', mode: 'off' })
  await expect(one.insight.undo(id, 7 as never)).rejects.toMatchObject({ code: 'SLUICE_BAD_OPTION' })
  await one.insight.undo(id, 'x'.repeat(9_999))
  expect(two.insight.controls()).toEqual([])
  expect(one.insight.audit()[0].entry.undoneBy?.length).toBe(128)
})

test('reverted changes make room for others', async () => {
  const { insight } = process()
  for (let n = 0; n < 300; n++) {
    const { id } = await insight.control({ action: 'block', key: `key ${n}`, duration: '24h' })
    await insight.undo(id)
  }
  expect(insight.controls()).toEqual([])
})

test('a hundred blocks of keys of maximum length reach all processes', async () => {
  const hub = new Hub()
  const clock = new FakeClock()
  const one = process({ channel: hub.join(), secret: SECRET }, [API], clock)
  const two = process({ channel: hub.join(), secret: SECRET }, [API], clock)
  for (let n = 0; n < 100; n++) await one.insight.control({ action: 'block', key: String(n).padEnd(4_096, '\u0001') })
  expect(two.insight.controls()).toHaveLength(100)
})

test('a reset that throws synchronously causes no unhandled rejection', async () => {
  const hub = new Hub()
  const clock = new FakeClock()
  const one = process({ channel: hub.join(), secret: SECRET }, [API], clock)
  const two = createInsight({ clock, channel: hub.join(), secret: SECRET })
  open.push(two)
  const memory = memoryBackend({ clock })
  memory.resetAll = () => {
    throw new Error('no reset here')
  }
  createLimiter({ policies: [API], clock, observers: [two], backend: memory })
  const unheard: unknown[] = []
  const hear = (error: unknown): void => void unheard.push(error)
  globalThis.process.on('unhandledRejection', hear)
  await one.insight.control({ action: 'reset', key: 'a key' })
  await new Promise((resolve) => setImmediate(resolve))
  globalThis.process.off('unhandledRejection', hear)
  expect(unheard).toEqual([])
  expect(two.audit()[0]).toMatchObject({ event: 'failed', text: expect.stringContaining('no reset here') })
})

test('an audit entry is a single line, whatever it contains', async () => {
  const lines: AuditLine[] = []
  const { insight } = process({ privacy: 'full', control: { audit: (line) => lines.push(line) } })
  const request: ControlRequest = {
    action: 'block',
    key: 'key\nended: all\u001b[2J',
    by: 'ops\r\nboss: undone',
    reason: '\u001b[31mred\u2028next\u202eback',
  }
  const { id } = await insight.control(request)
  await insight.undo(id, 'ops\u0007\n')
  const [explained] = (await insight.explain('key\nended: all\u001b[2J')).summary
  for (const text of [...lines.map((line) => line.text), explained])
    expect(text).not.toMatch(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u)
})

test('explain does not report an impossible cost as allowed', async () => {
  const { insight } = process()
  const { summary } = await insight.explain('key', { cost: Number.MAX_SAFE_INTEGER })
  expect(summary[0]).toContain('can never be allowed')
})

test('explain reports that a block applies only when its policy is enforced', async () => {
  const { insight, limiter } = process()
  await insight.control({ action: 'block', key: 'villain' })
  await insight.control({ action: 'mode', policy: 'api', mode: 'shadow' })
  expect(limiter.take('villain').allowed).toBe(true)
  expect((await insight.explain('villain')).summary[0]).not.toMatch(/^blocked/)
})

test('a limit that exists only in another process does not prevent changes here', async () => {
  const hub = new Hub()
  const clock = new FakeClock()
  const bold = process({ channel: hub.join(), secret: SECRET }, [API], clock)
  const control = { limits: { api: { min: 1, max: 3 } } }
  const shy = process({ channel: hub.join(), secret: SECRET, control }, [API], clock)
  await bold.insight.control({ action: 'limit', policy: 'api', limit: 9 })
  await shy.insight.control({ action: 'mode', policy: 'api', mode: 'off' })
  expect(shy.limiter.take('key').source).toBe('off')
})
