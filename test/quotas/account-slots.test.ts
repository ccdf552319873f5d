import { expect, test } from '@jest/globals'
import type { AccountSlot } from '../../packages/quotas/src/account/account-slot.ts'
import { AccountSlots } from '../../packages/quotas/src/account/account-slots.ts'
import { CalendarPeriods } from '../../packages/quotas/src/calendar/calendar-periods.ts'

const TERMS = { periods: new CalendarPeriods({ per: 'month', timeZone: 'UTC' }), carryOver: 0, thresholds: [80, 100] }
const KEPT = 10_000
const WAITING = { apply: () => {}, done: () => {}, failed: () => {} }

function slotsByKey(): (key: number) => AccountSlot {
  const slots = new AccountSlots()
  return (key) => slots.of({ name: 'calls', key: String(key) }, TERMS)
}

test('the least recently used of more than 10,000 idle accounts is evicted', () => {
  const slotOf = slotsByKey()
  const [first, second] = Array.from({ length: KEPT }, (_, key) => slotOf(key))
  expect(slotOf(0)).toBe(first)
  slotOf(KEPT)
  expect(slotOf(0)).toBe(first)
  expect(slotOf(1)).not.toBe(second)
})

test('accounts with work are kept, and their number shrinks to 10,000 once the work is done', () => {
  const slotOf = slotsByKey()
  const flood = Array.from({ length: 2 * KEPT }, (_, key) => {
    const slot = slotOf(key)
    slot.add(WAITING)
    return slot
  })
  expect(slotOf(0)).toBe(flood[0])
  for (const slot of flood) slot.failed(new Error('closed'), false)
  for (let key = 0; key < 1_000; key++) slotOf(2 * KEPT + key)
  expect(slotOf(9_000)).not.toBe(flood[9_000])
  expect(slotOf(12_000)).toBe(flood[12_000])
})

test('a use that does not know the zone of a key leaves waiting changes the zone that they know', () => {
  const slots = new AccountSlots()
  const periodsIn = (): CalendarPeriods => TERMS.periods
  const [known, unknown] = ['Asia/Tokyo', undefined].map((zone) => ({ ...TERMS, keyZone: { zone, periodsIn } }))
  const id = { name: 'calls', key: 'a' }
  const slot = slots.of(id, known)
  slot.add(WAITING)
  expect(slots.of(id, unknown).terms).toBe(known)
  slot.failed(new Error('closed'), false)
  expect(slots.of(id, unknown).terms).toBe(unknown)
})
