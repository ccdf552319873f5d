import { beforeEach, describe, expect, test } from '@jest/globals'
import { type DurableObjectBackendOptions, durableObjectBackend } from '@sluice/cloudflare'
import { type Answer, type Backend, type Charge, type Policy, systemClock } from '@sluice/limiter-core/backend'
import { openedCounter } from '@sluice/testkit'
import { eventually } from '../services/eventually.ts'
import { InProcessObjects } from './in-process-objects.ts'

const LIMIT = 10
const hour: Policy = { name: 'hour', algorithm: 'fixed-window', limit: LIMIT, windowMs: 3_600_000 }
const minute: Policy = { name: 'minute', algorithm: 'sliding-window', limit: LIMIT, windowMs: 60_000 }
const RESET = { resetAfterMs: 60_000 } as const

let objects: InProcessObjects

beforeEach(() => {
  objects = new InProcessObjects()
})

const made = (options?: DurableObjectBackendOptions): Backend<Promise<Answer>> => durableObjectBackend(objects, options)

function charge(backend: Backend, cost = 1, key = 'a', policy = hour): Charge {
  return { key, counter: openedCounter(backend, 'calls', policy), cost }
}

async function used(backend: Backend<Promise<Answer>>, key = 'a', policy = hour): Promise<number> {
  const { verdicts } = await backend.peekAll([charge(backend, 0, key, policy)])
  return LIMIT - verdicts[0].remaining
}

describe('a call', () => {
  test('decides all policies of a key, and all requests of one task', async () => {
    const backend = made({ shards: 1 })
    await Promise.all([
      backend.takeAll([charge(backend), charge(backend, 2, 'a', minute)]),
      backend.takeAll([charge(backend, 1, 'b')]),
      backend.peekAll([charge(backend, 1, 'c')]),
    ])
    expect(objects.calls).toBe(1)
    expect([await used(backend), await used(backend, 'a', minute), await used(backend, 'b')]).toEqual([1, 2, 1])
  })

  test('has at most `maxBatch` charges', async () => {
    const backend = made({ shards: 1, maxBatch: 3 })
    await Promise.all(Array.from({ length: 7 }, () => backend.takeAll([charge(backend)])))
    expect(objects.calls).toBe(3)
    expect(await used(backend)).toBe(7)
  })

  test('for keys of several objects charges all of them or none', async () => {
    const backend = made()
    const keys = Array.from({ length: 20 }, (_, index) => `key ${index}`)
    const takeAll = (): Promise<Answer> => backend.takeAll(keys.map((key) => charge(backend, 1, key)))
    await backend.takeAll([charge(backend, LIMIT - 1, 'key 7')])
    expect((await takeAll()).verdicts.map(({ allowed }) => allowed)).toEqual(keys.map(() => true))
    expect((await takeAll()).verdicts.filter(({ allowed }) => !allowed)).toHaveLength(1)
    expect(objects.storages.size).toBeGreaterThan(5)
    expect(await Promise.all(keys.map((key) => used(backend, key)))).toEqual(
      keys.map((key) => (key === 'key 7' ? LIMIT : 1)),
    )
  })
})

describe('a deadline', () => {
  test('that has passed when the call arrives leaves nothing counted', async () => {
    const backend = made()
    expect(await used(backend)).toBe(0)
    let release = (): void => {}
    objects.before = () => new Promise<void>((resolve) => (release = resolve))
    const take = backend.takeAll([charge(backend)], { deadlineAt: systemClock.now() + 20 })
    await expect(take).rejects.toMatchObject({ code: 'LATE', mayHaveCounted: true })
    objects.before = () => {}
    release()
    expect(await used(backend)).toBe(0)
    await backend.takeAll([charge(backend)], { deadlineAt: systemClock.now() + 10_000 })
    expect(await used(backend)).toBe(1)
  })

  test.each([-3_600_000, 3_600_000])('is kept if the clock of the isolate is wrong by %d ms', async (wrongMs) => {
    const clock = { ...systemClock, wall: () => systemClock.wall() + wrongMs }
    const backend = made({ clock })
    for (let take = 0; take < 3; take++) {
      await backend.takeAll([charge(backend)], { deadlineAt: systemClock.now() + 10_000 })
    }
    expect(await used(backend)).toBe(3)
    let release = (): void => {}
    objects.before = () => new Promise<void>((resolve) => (release = resolve))
    const take = backend.takeAll([charge(backend)], { deadlineAt: systemClock.now() + 20 })
    await expect(take).rejects.toMatchObject({ code: 'LATE' })
    objects.before = () => {}
    release()
    expect(await used(backend)).toBe(3)
  })

  test('that has passed before the call is sent needs no call', async () => {
    const backend = made()
    const take = backend.takeAll([charge(backend)], { deadlineAt: systemClock.now() - 1 })
    await expect(take).rejects.toMatchObject({ code: 'LATE', mayHaveCounted: false })
    expect(objects.calls).toBe(0)
  })
})

describe('an adjustment', () => {
  test('with the same idempotency key is applied once, by any isolate, also in the same call', async () => {
    const [one, other] = [made(), made()]
    const { takenAt } = await one.takeAll([charge(one, 5)])
    const moment = { idempotencyKey: { id: 'refund 1', issuedAt: systemClock.now() } }
    const refund = (backend: Backend<Promise<Answer>>): Promise<Answer> =>
      backend.adjustAll([charge(backend, -2)], takenAt, moment)
    await Promise.all([refund(one), refund(one), refund(other)])
    objects.restart()
    await refund(other)
    expect(await used(one)).toBe(3)
  })

  test('with an idempotency key older than half a minute is refused', async () => {
    const backend = made()
    const { takenAt } = await backend.takeAll([charge(backend, 5)])
    const moment = { idempotencyKey: { id: 'refund 1', issuedAt: systemClock.now() - 30_001 } }
    await expect(backend.adjustAll([charge(backend, -2)], takenAt, moment)).rejects.toMatchObject({ code: 'LATE' })
    expect(await used(backend)).toBe(5)
  })
})

describe('usage that a caller knows', () => {
  test('is ignored if the object has lost nothing since it was reported', async () => {
    const backend = made()
    await backend.takeAll([charge(backend, 2)])
    await backend.takeAll([{ ...charge(backend, 1), known: { used: 7, ...RESET, ageMs: 0 } }])
    expect(await used(backend)).toBe(3)
  })

  test.each([
    ['restored if it was reported before the object was restarted and lost its counts', async () => {}, 8],
    ['ignored if the key was reset since', (backend: Backend) => backend.resetAll([charge(backend)]), 1],
  ])('is %s', async (_, meanwhile, expected) => {
    const backend = made()
    await backend.takeAll([charge(backend, 7)])
    expect(backend.mayHaveLost?.(charge(backend), 0)).toBe(false)
    const reportedAt = systemClock.now()
    await eventually(async () => systemClock.now() > reportedAt + 5, { what: 'a later time' })
    objects.restart()
    for (const { values } of objects.storages.values()) values.clear()
    await meanwhile(backend)
    expect(await used(backend)).toBe(0)
    const ageMs = systemClock.now() - reportedAt
    expect(backend.mayHaveLost?.(charge(backend), ageMs)).toBe(true)
    await backend.takeAll([{ ...charge(backend), known: { used: 7, ...RESET, ageMs } }])
    expect(await used(backend)).toBe(expected)
  })

  test('is not reported as lost when a durable object is restarted', async () => {
    const backend = made({ durable: true })
    const createdAt = systemClock.now()
    expect(await used(backend)).toBe(0)
    await eventually(async () => systemClock.now() > createdAt + 5, { what: 'a later time' })
    await backend.takeAll([charge(backend, 7)])
    const reportedAt = systemClock.now()
    objects.restart()
    expect(await used(backend)).toBe(7)
    expect(backend.mayHaveLost?.(charge(backend), systemClock.now() - reportedAt)).toBe(false)
  })
})

describe('a failure', () => {
  const failing = async (error: unknown): Promise<unknown> => {
    objects.before = () => Promise.reject(error)
    const backend = made()
    return backend.takeAll([charge(backend)]).catch((failure: unknown) => failure)
  }

  test('of an object that throws may have counted, and of an overloaded one has not', async () => {
    expect(await failing(new Error('broken'))).toMatchObject({
      name: 'DurableObjectFailure',
      code: 'CONNECTION',
      message: 'broken',
      mayHaveCounted: true,
    })
    expect(await failing(Object.assign(new Error('busy'), { overloaded: true, retryable: true }))).toMatchObject({
      code: 'OVERLOADED',
      mayHaveCounted: false,
    })
    expect(await failing(undefined)).toMatchObject({ code: 'CONNECTION' })
  })

  test('is reported once as an interruption, and its end too', async () => {
    const backend = made()
    const events: string[] = []
    backend.interrupted?.((event) => events.push(event))
    objects.before = () => Promise.reject(new Error('broken'))
    for (let take = 0; take < 3; take++) await backend.takeAll([charge(backend)]).catch(() => {})
    expect(events).toEqual(['lost'])
    objects.before = () => {}
    await used(backend)
    expect(events).toEqual(['lost', 'back'])
  })

  test('of a key whose stored state is not of Sluice concerns only that key', async () => {
    const backend = made({ shards: 1 })
    await backend.takeAll([charge(backend)])
    const [[, { values }]] = [...objects.storages]
    const name = [...values.keys()].find((one) => one.startsWith('c:')) as string
    values.set(name, 'unknown')
    objects.restart()
    const [bad, good] = await Promise.allSettled([
      backend.takeAll([charge(backend)]),
      backend.takeAll([charge(backend, 1, 'b')]),
    ])
    expect(bad).toMatchObject({ reason: { code: 'REPLY', keyOnly: true, mayHaveCounted: false } })
    expect(good).toMatchObject({ status: 'fulfilled' })
    await backend.resetAll([charge(backend)])
    expect(await used(backend)).toBe(0)
  })

  test('of an object of another class names the cause', async () => {
    const stub = { fetch: async () => new Response('hello') }
    const backend = durableObjectBackend({ idFromName: () => ({}), get: () => stub })
    await expect(backend.takeAll([charge(backend)])).rejects.toThrow(/does it export LimitObject/)
  })
})

test('a call of another release is refused', async () => {
  const stub = objects.get(objects.idFromName('x'))
  for (const body of ['', '{}', 'null', JSON.stringify({ mark: 'sluice.object@0' })]) {
    expect((await stub.fetch('https://sluice.invalid/', { method: 'POST', body })).status).toBe(400)
  }
})

test('with a secret, no client key is stored', async () => {
  const backend = made({ secret: 'a secret of the fleet' })
  await backend.takeAll([charge(backend, 1, 'alice@example.com')])
  expect(await used(backend, 'alice@example.com')).toBe(1)
  const names = [...objects.storages.values()].flatMap(({ values }) => [...values.keys()])
  expect(names.filter((name) => name.startsWith('c:'))).toHaveLength(1)
  expect(names.join()).not.toMatch(/alice/)
})

test('backends with the same objects have the same identity', () => {
  expect(made().identity).toBe(made({ durable: true }).identity)
  expect(made().identity).not.toBe(made({ prefix: 'other' }).identity)
})
