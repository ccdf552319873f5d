import { expect, test } from '@jest/globals'
import { prometheusText } from '@sluice/fleet/metrics'
import { type AuditLine, type ControlRequest, createInsight, type InsightOptions } from '@sluice/insight'
import { createInflightLimiter, createLimiter, memoryBackend } from '@sluice/limiter-core'
import { FakeClock } from '@sluice/testkit'

const MINUTES = 60_000

/** Creates an application with two policies and its insight. */
function watched(options: InsightOptions = {}) {
  const clock = new FakeClock({ wallMs: 1_700_000_000_000 })
  const insight = createInsight({ clock, ...options })
  const backend = memoryBackend({ clock })
  const policies = [
    { name: 'minute', limit: 2, window: '1m', algorithm: 'fixed-window' },
    { name: 'hour', limit: 100, window: '1h', algorithm: 'fixed-window' },
  ] as const
  const limiterOf = () => createLimiter({ policies, clock, observers: [insight], backend, shared: true })
  const limiter = limiterOf()
  const allowed = (key: string, times: number) => Array.from({ length: times }, () => limiter.take(key).allowed)
  return { clock, insight, limiter, limiterOf, allowed }
}

test('a policy is switched to shadow for 15 minutes, and then enforced again automatically', async () => {
  const { clock, insight, allowed } = watched()
  const entry = await insight.control({
    action: 'mode',
    policy: 'minute',
    mode: 'shadow',
    by: 'ops',
    reason: 'a launch',
  })
  expect(entry).toMatchObject({ action: 'mode', policy: 'minute', mode: 'shadow', by: 'ops', reason: 'a launch' })
  expect([entry.at, entry.endsAt]).toEqual([clock.wall(), clock.wall() + 15 * MINUTES])
  expect(allowed('key', 4)).toEqual([true, true, true, true])
  clock.advance(15 * MINUTES - 1_000)
  expect(insight.controls()).toEqual([entry])
  expect(allowed('key', 3)).toEqual([true, true, true])
  clock.advance(2_000)
  expect(insight.controls()).toEqual([])
  expect(allowed('other', 3)).toEqual([true, true, false])
  expect(insight.audit().map(({ event, text }) => [event, text])).toEqual([
    ['ended', "expired: policy 'minute' switched to shadow"],
    ['begun', "ops: policy 'minute' switched to shadow (a launch)"],
  ])
  await insight.close()
})

test('a policy in shadow mode is enforced for a time if code allows it', async () => {
  const clock = new FakeClock({ wallMs: 1_700_000_000_000 })
  const insight = createInsight({ clock, control: { enforce: ['trial'] } })
  const policies = [
    { name: 'trial', limit: 2, window: '1h', mode: 'shadow' },
    { name: 'other', limit: 2, window: '1h', mode: 'shadow' },
  ] as const
  const backend = memoryBackend({ clock })
  const limiter = createLimiter({ policies, clock, observers: [insight], backend })
  const allowed = () => Array.from({ length: 3 }, () => limiter.take('key').allowed)
  expect(allowed()).toEqual([true, true, true])
  const { text } = await insight
    .control({ action: 'mode', policy: 'trial', mode: 'enforce', by: 'ops', duration: '1m' })
    .then(() => insight.audit()[0])
  expect(text).toBe("ops: policy 'trial' enforced")
  expect(allowed()).toEqual([false, false, false])
  expect((await insight.explain('key')).policies[0]).toMatchObject({ policy: 'trial', mode: 'enforce' })
  // the more permissive mode of two owners wins
  await insight.control({ action: 'mode', policy: 'trial', mode: 'off', duration: '10s' })
  expect(allowed()).toEqual([true, true, true])
  clock.advance(11_000)
  expect(allowed()).toEqual([false, false, false])
  clock.advance(61_000)
  expect(allowed()).toEqual([true, true, true])
  const refused = insight.control({ action: 'mode', policy: 'other', mode: 'enforce' })
  await expect(refused).rejects.toMatchObject({ code: 'SLUICE_BAD_OPTION' })
  limiter.close()
  await insight.close()
})

test('a cap is changed within its bounds, and followed by caps that are created later', async () => {
  const clock = new FakeClock({ wallMs: 1_700_000_000_000 })
  const control = { caps: { uploads: { min: 1, max: 5 } }, enforce: ['uploads'] }
  const insight = createInsight({ clock, control })
  const capOf = () => createInflightLimiter({ name: 'uploads', limit: 2, clock, observers: [insight] })
  const cap = capOf()
  const entry = await insight.control({ action: 'limit', cap: 'uploads', limit: 4, by: 'ops', duration: '1m' })
  expect(entry).toMatchObject({ action: 'limit', cap: 'uploads', limit: 4 })
  expect(insight.audit()[0].text).toBe("ops: limit of cap 'uploads' set to 4")
  const later = capOf()
  expect([cap.limit, later.limit]).toEqual([4, 4])
  await insight.control({ action: 'block', key: 'villain', cap: 'uploads', duration: '10s' })
  expect([cap.acquire('villain'), cap.acquire('other')]).toEqual([undefined, expect.anything()])
  clock.advance(10_000)
  expect(cap.acquire('villain')).toBeDefined()
  await insight.control({ action: 'mode', cap: 'uploads', mode: 'off', duration: '20s' })
  for (let number = 0; number < 9; number++) expect(cap.acquire('key')).toBeDefined()
  expect(cap.count('key')).toBe(0)
  clock.advance(51_000)
  expect([cap.limit, later.limit, insight.controls()]).toEqual([2, 2, []])
  const refused = [
    [{ action: 'limit', cap: 'uploads', limit: 6 }, 'SLUICE_BAD_LIMIT'],
    [{ action: 'limit', cap: 'nobody', limit: 2 }, 'SLUICE_UNKNOWN_POLICY'],
    [{ action: 'mode', mode: 'off' }, 'SLUICE_BAD_OPTION'],
    [{ action: 'mode', mode: 'off', cap: 'uploads', policy: 'uploads' }, 'SLUICE_BAD_OPTION'],
    [{ action: 'reset', key: 'key', cap: 'uploads' }, 'SLUICE_BAD_OPTION'],
  ] as const
  for (const [request, code] of refused) {
    await expect(insight.control(request as ControlRequest)).rejects.toMatchObject({ code })
  }
  cap.close()
  await insight.control({ action: 'limit', cap: 'uploads', limit: 4 })
  await insight.close()
  expect(later.limit).toBe(2)
})

test('a switch can be undone once', async () => {
  const { insight, allowed } = watched()
  const { id } = await insight.control({ action: 'mode', policy: 'minute', mode: 'off', duration: '1h' })
  expect(allowed('key', 3)).toEqual([true, true, true])
  expect(await insight.undo(id, 'ops')).toBe(true)
  expect(await insight.undo(id, 'ops')).toBe(false)
  expect(await insight.undo('nobody')).toBe(false)
  expect(allowed('key', 3)).toEqual([true, true, false])
  expect(insight.audit()[0]).toMatchObject({ event: 'undone', text: "ops: undone: policy 'minute' switched off" })
  await insight.close()
})

test('a limit can be changed only within its configured bounds', async () => {
  const { insight, allowed } = watched({ control: { limits: { minute: { min: 1, max: 4 } } } })
  await insight.control({ action: 'limit', policy: 'minute', limit: 4 })
  expect(allowed('key', 5)).toEqual([true, true, true, true, false])
  await insight.control({ action: 'limit', policy: 'minute', limit: 1 })
  expect(allowed('other', 2)).toEqual([true, false])
  await expect(insight.control({ action: 'limit', policy: 'minute', limit: 5 })).rejects.toThrow(
    /expected an integer from 1 to 4 for policy 'minute'/,
  )
  await expect(insight.control({ action: 'limit', policy: 'hour', limit: 5 })).rejects.toThrow(
    /a policy with bounds in createInsight/,
  )
  expect(insight.controls()).toHaveLength(2)
  await insight.close()
})

test('a small limit can be raised up to its bounds', async () => {
  const clock = new FakeClock()
  const insight = createInsight({ clock, control: { limits: { log: { min: 1, max: 50 } } } })
  const limiter = createLimiter({ policies: [{ name: 'log', limit: 3, window: '1m' }], clock, observers: [insight] })
  expect(limiter.policies[0].algorithm).toBe('sliding-log')
  for (let n = 0; n < 3; n++) limiter.take('key')
  await insight.control({ action: 'limit', policy: 'log', limit: 50 })
  let passed = 0
  while (limiter.take('key').allowed) passed++
  expect(passed).toBe(47)
  limiter.close()
  await insight.close()
})

test('a limit that the policy does not support is rejected, and changes nothing', async () => {
  const clock = new FakeClock()
  const insight = createInsight({ clock, control: { limits: { log: { min: 1, max: 1_000 } } } })
  const log = { name: 'log', limit: 3, window: '1m', algorithm: 'sliding-log' } as const
  const limiter = createLimiter({ policies: [log], clock, observers: [insight] })
  const refused = insight.control({ action: 'limit', policy: 'log', limit: 500 })
  await expect(refused).rejects.toMatchObject({ code: 'SLUICE_BAD_LIMIT' })
  expect([insight.controls(), insight.audit()]).toEqual([[], []])
  expect(limiter.peek('key').binding.policy.limit).toBe(3)
  limiter.close()
  await insight.close()
})

test('a key is blocked for exactly the given time, and displayed according to the privacy option', async () => {
  const { clock, insight, limiter } = watched()
  const entry = await insight.control({ action: 'block', key: '203.0.113.7', duration: '10s' })
  expect(entry.key).toBe('203.0.113.x')
  expect(limiter.take('203.0.113.7')).toMatchObject({ allowed: false, retryAfterMs: 10_000, source: 'blocked' })
  expect(limiter.take('203.0.113.8').allowed).toBe(true)
  // a block is not an uncounted decision
  expect(insight.snapshot().policies.map(({ total }) => [total.denied, total.uncounted])).toEqual([
    [1, 0],
    [1, 0],
  ])
  expect(prometheusText(insight)).not.toContain('sluice_uncounted_decisions_total{')
  clock.advance(9_999)
  expect(limiter.take('203.0.113.7').retryAfterMs).toBe(1)
  clock.advance(1)
  expect(limiter.take('203.0.113.7').allowed).toBe(true)
  expect(JSON.stringify([insight.controls(), insight.audit(), insight.snapshot()])).not.toContain('113.7')
  await insight.close()
})

test('a key can be blocked in a single policy', async () => {
  const { insight, limiter } = watched()
  await insight.control({ action: 'block', key: 'key', policy: 'hour' })
  expect(limiter.take('key').verdicts.map(({ policy }) => policy.name)).toEqual(['hour'])
  await insight.close()
})

test('a key can be reset in all policies, or in one', async () => {
  const { insight, limiter } = watched()
  const left = () => limiter.peek('key').verdicts.map(({ remaining }) => remaining)
  limiter.take('key', 2)
  await insight.control({ action: 'reset', key: 'key', policy: 'minute' })
  expect(left()).toEqual([2, 98])
  await insight.control({ action: 'reset', key: 'key' })
  expect(left()).toEqual([2, 100])
  expect(insight.audit()[0].text).toBe('code: key k… reset in all policies')
  await insight.close()
})

test('a limiter that is created later follows existing changes, and closing the insight restores all limiters', async () => {
  const { insight, limiterOf, allowed } = watched()
  await insight.control({ action: 'mode', policy: 'minute', mode: 'off' })
  const later = limiterOf()
  expect(later.take('key').verdicts.map(({ policy }) => policy.name)).toEqual(['hour'])
  await insight.close()
  expect(later.take('key').verdicts.map(({ policy }) => policy.name)).toEqual(['minute', 'hour'])
  expect(allowed('key', 2)).toEqual([true, false])
})

test('an audit sink receives each line, until it throws', async () => {
  const lines: AuditLine[] = []
  const audit = (line: AuditLine): void => {
    lines.push(line)
    if (lines.length === 2) throw new Error('full')
  }
  const { insight } = watched({ control: { audit } })
  for (const key of ['a', 'b', 'c']) await insight.control({ action: 'block', key })
  expect(lines.map(({ event }) => event)).toEqual(['begun', 'begun'])
  expect(insight.audit()).toHaveLength(3)
  await insight.close()
})

test('at most 100 changes can be active', async () => {
  const { insight, clock } = watched()
  for (let n = 0; n < 100; n++) await insight.control({ action: 'block', key: `key ${n}`, duration: '1m' })
  await expect(insight.control({ action: 'block', key: 'one more' })).rejects.toThrow(/at most 100 changes/)
  clock.advance(3 * MINUTES)
  await insight.control({ action: 'block', key: 'one more' })
  expect(insight.controls()).toHaveLength(1)
  await insight.close()
})

const bad: readonly [string, object, string][] = [
  ['no action', {}, 'SLUICE_BAD_OPTION'],
  ['an unknown action', { action: 'constructor' }, 'SLUICE_BAD_OPTION'],
  ['an unknown mode', { action: 'mode', policy: 'minute', mode: 'enforce' }, 'SLUICE_BAD_OPTION'],
  ['an unknown policy', { action: 'mode', policy: 'month', mode: 'off' }, 'SLUICE_UNKNOWN_POLICY'],
  ['an unsupported option', { action: 'block', key: 'a', limit: 3 }, 'SLUICE_BAD_OPTION'],
  ['an empty key', { action: 'block', key: '' }, 'SLUICE_BAD_OPTION'],
  ['a key of a megabyte', { action: 'block', key: 'k'.repeat(1_000_000) }, 'SLUICE_BAD_OPTION'],
  ['no time', { action: 'block', key: 'a', duration: 0 }, 'SLUICE_BAD_DURATION'],
  ['too long', { action: 'block', key: 'a', duration: '25h' }, 'SLUICE_BAD_DURATION'],
  ['a reset with a duration', { action: 'reset', key: 'a', duration: '1m' }, 'SLUICE_BAD_OPTION'],
  ['an invalid limit', { action: 'limit', policy: 'minute', limit: 1.5 }, 'SLUICE_BAD_LIMIT'],
  ['nobody', { action: 'block', key: 'a', by: 7 }, 'SLUICE_BAD_OPTION'],
]

test.each(bad)('%s is rejected', async (_what, request, code) => {
  const { insight } = watched({ control: { limits: { minute: { min: 1, max: 4 } } } })
  await expect(insight.control(request as ControlRequest)).rejects.toMatchObject({ code })
  await insight.close()
})

test('control options are validated at start-up', () => {
  expect(() => createInsight({ control: { limits: { a: { min: 5, max: 4 } } } })).toThrow(/at least min/)
  expect(() => createInsight({ control: { limits: { a: { min: 0, max: 4 } } } })).toThrow(/SLUICE_BAD_LIMIT/)
  expect(() => createInsight({ control: { limit: {} } as object })).toThrow(/SLUICE_BAD_OPTION/)
  expect(() => createInsight({ control: { audit: 'file' } as object })).toThrow(/SLUICE_BAD_OPTION/)
})
