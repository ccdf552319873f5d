import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals'
import { type DurableObjectBackendOptions, durableObjectBackend, LimitObject } from '@sluice/cloudflare'
import { type Answer, type Backend, type Policy, systemClock } from '@sluice/limiter-core/backend'
import { FakeClock, openedCounter, seededRandom } from '@sluice/testkit'
import { InProcessObjects, type InProcessStorage } from './in-process-objects.ts'

const LIMIT = 10
const hour: Policy = { name: 'hour', algorithm: 'fixed-window', limit: LIMIT, windowMs: 3_600_000 }
const log: Policy = { name: 'log', algorithm: 'sliding-log', limit: LIMIT, windowMs: 3_600_000 }

let objects: InProcessObjects

beforeEach(() => {
  objects = new InProcessObjects()
})

afterEach(() => {
  jest.restoreAllMocks()
})

type ObjectBackend = Backend<Promise<Answer>>

const made = (options?: DurableObjectBackendOptions): ObjectBackend =>
  durableObjectBackend(objects, { shards: 1, ...options })

async function take(backend: ObjectBackend, key: string, { cost = 1, policy = hour } = {}): Promise<boolean> {
  const { verdicts } = await backend.takeAll([{ key, counter: openedCounter(backend, 'stored', policy), cost }])
  return verdicts[0].allowed
}

async function remaining(backend: ObjectBackend, key: string, policy = hour): Promise<number> {
  const charges = [{ key, counter: openedCounter(backend, 'stored', policy), cost: 0 }]
  return (await backend.peekAll(charges)).verdicts[0].remaining
}

function storage(): InProcessStorage {
  return [...objects.storages.values()][0]
}

test('calls of several isolates to one object are decided exactly, also for more keys than it keeps in memory', async () => {
  const random = seededRandom(11)
  const isolates = Array.from({ length: 4 }, () => made({ maxBatch: 1 }))
  const admitted = new Map<string, number>()
  const keys = Array.from({ length: 2_500 }, (_, index) => `key ${index}`)
  for (let round = 0; round < 100; round++) {
    await Promise.all(
      Array.from({ length: 100 }, async () => {
        const key = random.whole(4) === 0 ? 'busy' : random.pick(keys)
        if (await take(random.pick(isolates), key)) admitted.set(key, (admitted.get(key) ?? 0) + 1)
      }),
    )
  }
  expect(admitted.get('busy')).toBe(LIMIT)
  objects.restart()
  const wrong: string[] = []
  for (const key of keys) if ((await remaining(isolates[0], key)) !== LIMIT - (admitted.get(key) ?? 0)) wrong.push(key)
  expect(wrong).toEqual([])
}, 60_000)

test('a log keeps its units when its limit changes and the object is restarted', async () => {
  const larger: Policy = { ...log, limit: 100 }
  const smaller: Policy = { ...log, limit: 3 }
  const backend = made()
  await take(backend, 'a', { cost: 5, policy: log })
  objects.restart()
  expect(await remaining(backend, 'a', larger)).toBe(95)
  await take(backend, 'a', { cost: 40, policy: larger })
  objects.restart()
  expect(await remaining(backend, 'a', log)).toBe(0)
  expect(await remaining(backend, 'a', smaller)).toBe(0)
  expect(await remaining(backend, 'a', larger)).toBe(55)
})

test('a denied request and a peek write nothing', async () => {
  const backend = made()
  await take(backend, 'a', { cost: LIMIT })
  const put = jest.spyOn(storage(), 'put')
  expect(await take(backend, 'a')).toBe(false)
  expect(await remaining(backend, 'b')).toBe(LIMIT)
  expect(put).not.toHaveBeenCalled()
})

test.each([true, false])('with `durable: %s`, replies wait for the storage accordingly', async (durable) => {
  const backend = made({ durable })
  await remaining(backend, 'a')
  const put = jest.spyOn(storage(), 'put')
  await take(backend, 'a')
  expect(put).toHaveBeenCalledWith(expect.anything(), { allowUnconfirmed: !durable })
})

describe('the alarm', () => {
  const ring = (): Promise<void> => new LimitObject({ storage: storage() }).alarm()
  const counts = (): string[] => [...storage().values.keys()].filter((name) => name.startsWith('c:'))
  let clock: FakeClock

  // the runtime creates objects, so that they have no option for a clock
  beforeEach(() => {
    clock = new FakeClock()
    jest.spyOn(systemClock, 'wall').mockImplementation(() => clock.wall())
  })

  test('deletes expired counts only, and is set for the end of the next', async () => {
    const backend = made()
    const keys = Array.from({ length: 300 }, (_, index) => `key ${index}`)
    await Promise.all(keys.map((key) => take(backend, key)))
    const { alarmAt } = storage()
    expect(alarmAt).toBeGreaterThanOrEqual(clock.wall() + hour.windowMs)
    clock.advance(hour.windowMs / 2)
    await take(backend, 'late')
    clock.advance(hour.windowMs / 2 + 60_000)
    await ring()
    expect(counts()).toHaveLength(1)
    const { alarmAt: next } = storage()
    expect(next).toBeGreaterThan(clock.wall())
    expect(next).toBeLessThan(clock.wall() + hour.windowMs)
    clock.advance(hour.windowMs)
    await ring()
    expect([...storage().values.keys()]).toEqual(['s:created'])
  })

  test('keeps a count that is used while expired counts are deleted', async () => {
    const backend = made()
    await take(backend, 'a')
    clock.advance(2 * hour.windowMs)
    const object = objects.objects.get('sluice:0') as LimitObject
    const ringing = object.alarm()
    await take(backend, 'a', { cost: 2 })
    await ringing
    objects.restart()
    expect(await remaining(backend, 'a')).toBe(LIMIT - 2)
  })
})
