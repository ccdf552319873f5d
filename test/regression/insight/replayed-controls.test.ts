import { expect, test } from '@jest/globals'
import { createInsight, type Insight } from '@sluice/insight'
import { FakeClock } from '@sluice/testkit'
import { ControlSet } from '../../../packages/insight/src/control/control-set.ts'
import type { StoredControl } from '../../../packages/insight/src/control/stored-control.ts'
import { endedAfterEach } from '../../services/for-tests.ts'
import { Hub } from '../../sketches/fleet/hub.ts'

const TOPIC = 'sluice.insight.control'
const HOUR = 3_600_000
const open = endedAfterEach<Insight>((insight) => insight.close())

function joined(hub: Hub, clock: FakeClock): Insight {
  const insight = createInsight({ clock, channel: hub.join(), secret: 'a secret of all processes', control: {} })
  open.push(insight)
  return insight
}

test('a recorded message does not begin an undone change after all processes have restarted', async () => {
  const clock = new FakeClock({ wallMs: 1_700_000_000_000 })
  const hub = new Hub()
  const spy = hub.join()
  const sent: Uint8Array[] = []
  spy.subscribe(TOPIC, (bytes) => void sent.push(bytes))
  const before = joined(hub, clock)
  const { id } = await before.control({ action: 'block', key: 'customer', duration: '12h' })
  clock.advance(60_000)
  await before.undo(id)
  await before.close()

  clock.advance(60_000)
  const after = joined(hub, clock)
  for (const bytes of sent.slice(0, 60)) await spy.publish(TOPIC, bytes)
  expect(after.controls()).toEqual([])
  expect(after.snapshot().unreadMessages).toBeGreaterThan(0)
  // changes made from now on apply
  const other = joined(hub, clock)
  await other.control({ action: 'block', key: 'villain' })
  expect(after.controls()).toHaveLength(1)
})

test.each([-5, 5])('a process whose clock differs by %s minutes applies changes at last', async (minutes) => {
  const hub = new Hub()
  const clock = new FakeClock({ wallMs: 1_700_000_000_000 })
  const other = new FakeClock({ wallMs: 1_700_000_000_000 + minutes * 60_000 })
  const here = joined(hub, clock)
  const there = joined(hub, other)
  await here.control({ action: 'block', key: 'villain' })
  await there.control({ action: 'block', key: 'other' })
  for (let second = 0; second < 301; second++) {
    clock.advance(1_000)
    other.advance(1_000)
  }
  expect(here.controls()).toHaveLength(2)
  expect(there.controls()).toHaveLength(2)
})

function change(id: string, fields: Partial<StoredControl> = {}): StoredControl {
  return { id, change: { action: 'block', key: id }, at: 0, endsAt: 24 * HOUR, by: 'ops', ...fields }
}

test('changes that were undone do not take the place of later changes', () => {
  const set = new ControlSet()
  for (let n = 0; n < 600; n++) set.merge([change(`undone ${n}`, { undoneAt: 1, undoneBy: 'ops' })], 0)
  expect(set.merge([change('later')], 2)).toHaveLength(1)
  expect(set.active(2).map(({ id }) => id)).toEqual(['later'])
  expect(set.all().length).toBeLessThanOrEqual(500)
})

test('at most 200 changes of other processes are active', () => {
  const set = new ControlSet()
  for (let n = 0; n < 600; n++) set.merge([change(`active ${n}`)], 0)
  expect(set.active(0)).toHaveLength(200)
  expect(set.merge([{ ...change('active 7'), undoneAt: 1, undoneBy: 'ops' }], 1)).toHaveLength(1)
  expect(set.merge([change('later')], 2)).toHaveLength(1)
})
