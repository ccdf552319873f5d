import { describe, expect, test } from '@jest/globals'
import { durableObjectBackend } from '@sluice/cloudflare'
import type { Policy } from '@sluice/limiter-core/backend'
import { openedCounter } from '@sluice/testkit'
import { InProcessObjects } from '../../cloudflare/in-process-objects.ts'

const MONTH_MS = 30 * 86_400_000
const SOON_MS = 600_000

function objectOf() {
  const objects = new InProcessObjects()
  const backend = durableObjectBackend(objects, { shards: 1 })
  const take = (key: string, windowMs: number) => {
    const policy: Policy = { name: `${windowMs}`, algorithm: 'fixed-window', limit: 10, windowMs }
    return backend.takeAll([{ key, counter: openedCounter(backend, `${windowMs}`, policy), cost: 1 }])
  }
  const alarmInMs = () => ([...objects.storages.values()][0].alarmAt as number) - Date.now()
  const ring = () => [...objects.objects.values()][0].alarm()
  return { take, alarmInMs, ring }
}

describe('counts of short windows are deleted soon', () => {
  test('although the first count of the object lasts a month', async () => {
    const { take, alarmInMs } = objectOf()
    await take('a', MONTH_MS)
    expect(alarmInMs()).toBeGreaterThan(SOON_MS)
    await take('b', 60_000)
    expect(alarmInMs()).toBeLessThan(SOON_MS)
  })

  test('although only counts that last a month were left after the last deletion', async () => {
    const { take, alarmInMs, ring } = objectOf()
    await take('a', MONTH_MS)
    await ring()
    expect(alarmInMs()).toBeGreaterThan(SOON_MS)
    await take('b', 60_000)
    expect(alarmInMs()).toBeLessThan(SOON_MS)
  })

  test('although they were written while a deletion was in progress', async () => {
    const { take, alarmInMs, ring } = objectOf()
    await take('a', MONTH_MS)
    const ringing = ring()
    await take('b', 60_000)
    await ringing
    expect(alarmInMs()).toBeLessThan(SOON_MS)
  })
})

test('the alarm of a count that lasts longer than any date is set for a valid date', async () => {
  const objects = new InProcessObjects()
  const backend = durableObjectBackend(objects, { shards: 1 })
  const policy: Policy = { name: 'month', algorithm: 'gcra', limit: 10, windowMs: MONTH_MS }
  const charge = { key: 'a', counter: openedCounter(backend, 'month', policy), cost: Number.MAX_SAFE_INTEGER }
  await backend.adjustAll([charge], Date.now())
  const [storage] = objects.storages.values()
  expect(new Date(storage.alarmAt as number).getTime()).toBeGreaterThan(Date.now())
  await [...objects.objects.values()][0].alarm()
  expect(new Date(storage.alarmAt as number).getTime()).toBeGreaterThan(Date.now())
})
