import { expect, test } from '@jest/globals'
import { createInsight, type Insight, type InsightOptions } from '@sluice/insight'
import {
  type Channel,
  createInflightLimiter,
  createLimiter,
  type Decision,
  type Limiter,
  memoryBackend,
} from '@sluice/limiter-core'
import { FakeClock, seededRandom } from '@sluice/testkit'
import { ControlCipher } from '../../../packages/insight/src/control/control-cipher.ts'
import type { StoredControl } from '../../../packages/insight/src/control/stored-control.ts'
import { endedAfterEach } from '../../services/for-tests.ts'
import { Hub } from '../../sketches/fleet/hub.ts'

const SECRET = 'a secret of all processes'
const open = endedAfterEach<Insight>((insight) => insight.close())

interface Member {
  readonly insight: Insight
  readonly limiter: Limiter<Decision>
}

/** Processes that share a clock and a channel, each with limits in its own memory. */
class Fleet {
  readonly clock = new FakeClock({ wallMs: 1_700_000_000_000 })
  readonly hub = new Hub()

  join(options: InsightOptions = {}, channel: Channel = this.hub.join()): Member {
    const { clock } = this
    const insight = createInsight({
      clock,
      channel,
      secret: SECRET,
      control: { limits: { api: { min: 1, max: 9 } } },
      ...options,
    })
    open.push(insight)
    const policies = [{ name: 'api', limit: 2, window: '1h', algorithm: 'fixed-window' }] as const
    return {
      insight,
      limiter: createLimiter({ policies, clock, observers: [insight], backend: memoryBackend({ clock }) }),
    }
  }

  tick(): void {
    this.clock.advance(1_000)
  }
}

function unreadByTopic(insight: Insight): Record<string, number> {
  const events = [...insight.metrics()].filter(({ name }) => name === 'sluice_sync_events_total')
  const unread = events.flatMap(({ samples }) => samples.filter(({ labels }) => labels.event === 'unread'))
  return Object.fromEntries(unread.map((sample) => [sample.labels.topic, 'value' in sample ? sample.value : 0]))
}

const limitsOf = (members: readonly Member[]) => members.map(({ limiter }) => limiter.peek('key').binding.policy.limit)

test('a change takes effect in all processes at once, and ends in all of them', async () => {
  const fleet = new Fleet()
  const members = [fleet.join(), fleet.join(), fleet.join()]
  const [{ insight }] = members
  const entry = await insight.control({ action: 'limit', policy: 'api', limit: 7, by: 'ops' })
  expect(limitsOf(members)).toEqual([7, 7, 7])
  expect(members[2].insight.controls()).toEqual([entry])
  expect(members[2].insight.audit()).toMatchObject([{ event: 'begun', entry: { by: 'ops' } }])
  await members[1].insight.undo(entry.id, 'boss')
  expect(limitsOf(members)).toEqual([2, 2, 2])
  expect(insight.audit()[0]).toMatchObject({ event: 'undone', entry: { undoneBy: 'boss' } })
})

test('a process that starts later, or missed the message, receives the change within a tick', async () => {
  const fleet = new Fleet()
  const first = fleet.join()
  const deaf = fleet.hub.join()
  const dropped: Channel = { ...deaf, subscribe: () => () => {}, publish: () => {}, close: () => {} }
  const missed = fleet.join({}, dropped)
  await first.insight.control({ action: 'mode', policy: 'api', mode: 'off', duration: '10s' })
  const late = fleet.join()
  expect(missed.limiter.take('key').counted).toBe(true)
  fleet.tick()
  expect(late.limiter.take('key')).toMatchObject({ counted: false, source: 'off' })
  // a late process does not repeat the start event
  fleet.clock.advance(10_000)
  expect(late.limiter.take('key')).toMatchObject({ counted: true })
})

test('a change continues after the process that made it has ended', async () => {
  const fleet = new Fleet()
  const first = fleet.join()
  const second = fleet.join()
  await first.insight.control({ action: 'block', key: 'villain', duration: '1h' })
  await first.insight.close()
  const third = fleet.join()
  fleet.tick()
  fleet.tick()
  for (const { limiter } of [second, third]) {
    expect(limiter.take('villain')).toMatchObject({ allowed: false, source: 'blocked' })
  }
})

test('a reset applies once to the separate counts of each process', async () => {
  const fleet = new Fleet()
  const members = [fleet.join(), fleet.join()]
  for (const { limiter } of members) limiter.take('key', 2)
  await members[0].insight.control({ action: 'reset', key: 'key' })
  expect(members.map(({ limiter }) => limiter.peek('key').binding.remaining)).toEqual([2, 2])
  for (const { limiter } of members) limiter.take('key')
  for (let n = 0; n < 5; n++) fleet.tick()
  expect(members.map(({ limiter }) => limiter.peek('key').binding.remaining)).toEqual([1, 1])
})

test('a limit outside the bounds of another process is not applied there, and the failure is recorded', async () => {
  const fleet = new Fleet()
  const bold = fleet.join()
  const shy = fleet.join({ control: { limits: { api: { min: 1, max: 3 } } } })
  await bold.insight.control({ action: 'limit', policy: 'api', limit: 9 })
  expect(limitsOf([bold, shy])).toEqual([9, 2])
  // later changes still apply
  await shy.insight.control({ action: 'limit', policy: 'api', limit: 3 })
  expect(limitsOf([bold, shy])).toEqual([3, 3])
  const { id } = await shy.insight.control({ action: 'mode', policy: 'api', mode: 'off' })
  await shy.insight.undo(id)
  expect(shy.insight.audit().find(({ event }) => event === 'failed')).toMatchObject({
    event: 'failed',
    text: expect.stringContaining('outside the bounds'),
  })
})

test('messages contain no keys, and messages without the secret are ignored and counted', async () => {
  const fleet = new Fleet()
  const member = fleet.join()
  const stranger = fleet.join({ secret: 'another secret of somebody' })
  const sent: Uint8Array[] = []
  const spy = fleet.hub.join()
  spy.subscribe('sluice.insight.control', (bytes) => void sent.push(bytes))
  await member.insight.control({ action: 'block', key: 'customer@example.com' })
  fleet.tick()
  expect(sent.length).toBeGreaterThan(0)
  expect(sent.map((bytes) => Buffer.from(bytes).toString('latin1')).join()).not.toContain('customer')
  expect(stranger.insight.controls()).toEqual([])
  expect(stranger.limiter.take('customer@example.com').allowed).toBe(true)
  // its reports cannot be read either, because the secret determines how unique keys are hashed
  const unread = unreadByTopic(stranger.insight)
  expect(unread).toEqual({ 'sluice.insight.control': sent.length, 'sluice.insight': 1 })
  expect(stranger.insight.snapshot().unreadMessages).toBe(sent.length + 1)
  // recorded messages that are modified or truncated are ignored
  const random = seededRandom(20_260_301)
  const undone = await fleet.join().insight.control({ action: 'mode', policy: 'api', mode: 'off' })
  expect(undone.action).toBe('mode')
  for (let n = 0; n < 500; n++) {
    const bytes = Uint8Array.from(random.pick(sent))
    if (n % 2 === 0) bytes[random.whole(bytes.length - 1)] ^= 1 + random.whole(254)
    await spy.publish('sluice.insight.control', n % 2 === 0 ? bytes : bytes.subarray(0, random.whole(bytes.length - 1)))
  }
  expect(member.insight.controls().map(({ action }) => action)).toEqual(['mode', 'block'])
})

test('an older message does not restore a change that was undone', async () => {
  const fleet = new Fleet()
  const member = fleet.join()
  const sent: Uint8Array[] = []
  const spy = fleet.hub.join()
  spy.subscribe('sluice.insight.control', (bytes) => void sent.push(bytes))
  const { id } = await member.insight.control({ action: 'mode', policy: 'api', mode: 'off' })
  const [before] = sent
  await member.insight.undo(id)
  await spy.publish('sluice.insight.control', before)
  expect(member.insight.controls()).toEqual([])
  expect(member.limiter.take('key').counted).toBe(true)
})

test('known changes in a message of a later release are applied', async () => {
  const fleet = new Fleet()
  const { ControlCipher } = await import('../../../packages/insight/src/control/control-cipher.ts')
  const member = fleet.join()
  const at = fleet.clock.wall()
  const later = [
    { id: 'a', change: { action: 'teleport', policy: 'api' }, at, endsAt: at + 60_000, by: 'ops', colour: 'red' },
    {
      id: 'b',
      change: { action: 'mode', policy: 'api', mode: 'off', region: 'eu' },
      at,
      endsAt: at + 60_000,
      by: 'ops',
    },
    { id: 'c', change: { action: 'mode', policy: 'api', mode: 'paused' }, at, endsAt: at + 60_000, by: 'ops' },
  ]
  const topic = 'sluice.insight.control'
  await fleet.hub.join().publish(topic, new ControlCipher(SECRET, topic).seal(JSON.stringify(later)))
  expect(member.insight.controls().map(({ id }) => id)).toEqual(['b'])
})

test('changes over a channel require a secret', async () => {
  const fleet = new Fleet()
  const { insight } = fleet.join({ secret: undefined })
  const refused = insight.control({ action: 'mode', policy: 'api', mode: 'off' })
  await expect(refused).rejects.toMatchObject({ code: 'SLUICE_SECRET_MISSING' })
})

test('the later of two changes applies, even if its clock is behind', async () => {
  const fleet = new Fleet()
  const ahead = fleet.join({ clock: new FakeClock({ wallMs: 1_700_000_060_000 }) })
  const behind = fleet.join()
  await ahead.insight.control({ action: 'limit', policy: 'api', limit: 9 })
  for (const limit of [3, 4, 5, 6]) {
    await behind.insight.control({ action: 'limit', policy: 'api', limit })
    expect(limitsOf([ahead, behind])).toEqual([limit, limit])
  }
})

test('a process that does not allow it keeps a policy in shadow mode, and records the failure', async () => {
  const fleet = new Fleet()
  const bold = fleet.join({ control: { enforce: ['trial'] } })
  const shy = fleet.join()
  const policies = [{ name: 'trial', limit: 1, window: '1h', mode: 'shadow' }] as const
  const [open, kept] = [bold, shy].map(({ insight }) => {
    return createLimiter({ policies, clock: fleet.clock, observers: [insight], backend: memoryBackend() })
  })
  await bold.insight.control({ action: 'mode', policy: 'trial', mode: 'enforce' })
  const allowed = (limiter: Limiter<Decision>) => [1, 2].map(() => limiter.take('key').allowed)
  expect([allowed(open), allowed(kept)]).toEqual([
    [true, false],
    [true, true],
  ])
  expect(shy.insight.audit()[0]).toMatchObject({ event: 'failed', text: expect.stringContaining('does not allow') })
})

test('a change of a cap applies in all processes, and is skipped by releases that cannot change caps', async () => {
  const fleet = new Fleet()
  const control = { caps: { uploads: { min: 1, max: 5 } } }
  const members = [fleet.join({ control }), fleet.join({ control })]
  const caps = members.map(({ insight }) => {
    return createInflightLimiter({ name: 'uploads', limit: 2, clock: fleet.clock, observers: [insight] })
  })
  const sent: Uint8Array[] = []
  fleet.hub.join().subscribe('sluice.insight.control', (bytes) => void sent.push(bytes))
  await members[0].insight.control({ action: 'limit', cap: 'uploads', limit: 5 })
  await members[1].insight.control({ action: 'block', cap: 'uploads', key: 'villain' })
  await members[0].insight.control({ action: 'mode', cap: 'uploads', mode: 'shadow', duration: '1s' })
  expect(caps.map(({ limit }) => limit)).toEqual([5, 5])
  expect(members[1].insight.controls().map(({ action, cap }) => [action, cap])).toEqual([
    ['mode', 'uploads'],
    ['block', 'uploads'],
    ['limit', 'uploads'],
  ])
  for (let second = 0; second < 3; second++) fleet.tick()
  expect(caps.map((cap) => cap.acquire('villain'))).toEqual([undefined, undefined])
  const cipher = new ControlCipher(SECRET, 'sluice.insight.control')
  const actions = sent.flatMap((bytes) => JSON.parse(cipher.open(bytes)).map((one: StoredControl) => one.change.action))
  expect(new Set(actions)).toEqual(new Set(['sent', 'cap limit', 'cap block', 'cap mode']))
})

test('a change that claims to be from the far future does not date later ones', async () => {
  const fleet = new Fleet()
  const member = fleet.join()
  const at = fleet.clock.wall()
  const forged = {
    id: 'forged',
    change: { action: 'mode', policy: 'api', mode: 'off' },
    at: Number.MAX_SAFE_INTEGER,
    endsAt: at + 60_000,
    by: 'somebody',
  }
  const cipher = new ControlCipher(SECRET, 'sluice.insight.control')
  await fleet.hub.join().publish('sluice.insight.control', cipher.seal(JSON.stringify([forged])))
  const entry = await member.insight.control({ action: 'limit', policy: 'api', limit: 5 })
  expect([entry.at, member.insight.controls().map(({ id }) => id)]).toEqual([at, [entry.id]])
})
