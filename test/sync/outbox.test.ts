import { describe, expect, test } from '@jest/globals'
import { memoryBackend } from '@sluice/limiter-core'
import { eachSeed, openedCounter } from '@sluice/testkit'
import { Outbox } from '../../packages/fleet/src/sync/outbox.ts'

const backend = memoryBackend()
const counter = openedCounter(backend, 'test', { name: 'p', algorithm: 'fixed-window', limit: 9, windowMs: 60_000 })
const all = (): boolean => true

function filled(units: readonly number[]): Outbox {
  const outbox = new Outbox(1_000)
  for (const [index, count] of units.entries()) {
    const place = outbox.add(counter, `key ${index}`, index % 4)
    outbox.count(place, count, 0, 1_000)
  }
  return outbox
}

describe('an outbox', () => {
  test('sends the keys with the most units first if not all fit, and keeps the others', () => {
    const outbox = filled([1, 500, 2, 70, 3, 9_000])
    expect(
      outbox
        .take(3, all)
        .map(({ key }) => key)
        .sort(),
    ).toEqual(['key 1', 'key 3', 'key 5'])
    expect(outbox.size).toBe(3)
    expect(outbox.take(9, all)).toHaveLength(3)
    expect(outbox.size).toBe(0)
  })

  test('sends urgent keys first, once, and keeps what is not accepted', () => {
    const outbox = filled([1, 1, 1, 1])
    for (const place of [2, 4, 2]) outbox.markUrgent(place)
    expect(outbox.takeUrgent(9, (partition) => partition !== 3).map(({ key }) => key)).toEqual(['key 1'])
    expect(outbox.hasUrgent).toBe(true)
    expect(outbox.takeUrgent(9, all).map(({ key }) => key)).toEqual(['key 3'])
    expect([outbox.hasUrgent, outbox.size]).toEqual([false, 2])
  })

  test('that was emptied by urgent keys does not return missing keys', () => {
    const outbox = filled([1, 1, 1])
    for (const place of [1, 2, 3]) outbox.markUrgent(place)
    outbox.drop(2, 'key 1', counter)
    expect(outbox.takeUrgent(9, all).map(({ key }) => key)).toEqual(['key 0', 'key 2'])
    expect([outbox.size, outbox.hasUrgent, outbox.takeUrgent(9, all), outbox.take(9, all)]).toEqual([0, false, [], []])
    expect(outbox.add(counter, 'again', 0)).toBe(1)
  })

  test('never exceeds its bound, and accepts another key after one was sent', () => {
    const outbox = new Outbox(2)
    expect([outbox.add(counter, 'a', 0), outbox.add(counter, 'b', 0), outbox.add(counter, 'c', 0)]).toEqual([1, 2, 0])
    outbox.drop(1, 'a', counter)
    const place = outbox.add(counter, 'c', 0)
    expect(outbox.find(place, 'c', counter)?.key).toBe('c')
    expect(outbox.find(place, 'a', counter)).toBeUndefined()
  })

  test('neither loses nor duplicates units, whatever is added, marked as urgent and taken', async () => {
    await eachSeed(20, (random) => {
      const outbox = new Outbox(50)
      const places = new Map<string, number>()
      let added = 0
      let taken = 0
      const count = (usages: readonly { units: number; key: string }[]): void => {
        for (const { units } of usages) taken += units
      }
      for (let deed = 0; deed < 2_000; deed++) {
        const key = `key ${random.whole(80)}`
        let usage = outbox.find(places.get(key) ?? 0, key, counter)
        if (!usage) {
          places.set(key, outbox.add(counter, key, random.whole(4)))
          usage = outbox.find(places.get(key) as number, key, counter)
        }
        const units = random.whole(300)
        if (usage) {
          outbox.count(places.get(key) as number, units, deed, 100)
          added += units
        }
        if (usage && random.whole(3) === 0) outbox.markUrgent(places.get(key) as number)
        const refused = random.whole(4)
        if (random.whole(20) === 0) count(outbox.take(random.whole(60), (partition) => partition !== refused))
        if (random.whole(10) === 0) count(outbox.takeUrgent(random.whole(9), (partition) => partition !== refused))
      }
      expect(taken + outbox.clear()).toBe(added)
      expect(outbox.size).toBe(0)
    })
  })
})
