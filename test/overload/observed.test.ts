import { expect, test } from '@jest/globals'
import {
  type AcquireOptions,
  type CapHandle,
  createInflightLimiter,
  type ObservedCap,
  type Observer,
} from '@sluice/limiter-core'
import { adaptive, prioritizedInflight } from '@sluice/overload'
import { FakeClock } from '@sluice/testkit'

/** Records what an observer of a cap receives. */
class Record implements Observer {
  readonly admitted: ObservedCap[] = []
  readonly denied: ObservedCap[] = []
  readonly left: ObservedCap[] = []
  handle: CapHandle | undefined

  capOpened(cap: CapHandle): void {
    this.handle = cap
  }

  permitAcquired(_key: string, cap: ObservedCap): void {
    this.admitted.push(cap)
  }

  capDenied(_key: string, cap: ObservedCap): void {
    this.denied.push(cap)
  }

  capLeft(_key: string, cap: ObservedCap): void {
    this.left.push(cap)
  }

  get reasons(): unknown[] {
    return this.denied.map(({ priority, reason }) => `${priority} ${reason}`)
  }
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await undefined
}

test('observers receive the priority of a request, why it was denied, and how many requests wait', async () => {
  const [clock, record] = [new FakeClock(), new Record()]
  const backend = prioritizedInflight({ queue: { max: 2, maxWaitMs: 100 }, clock })
  const cap = createInflightLimiter({ name: 'jobs', limit: 1, backend, clock, observers: [record] })
  const ask = (options: AcquireOptions) => cap.acquire('', options)
  const held = await ask({ priority: 'high' })
  expect(record.admitted).toMatchObject([{ name: 'jobs', limit: 1, priority: 'high' }])
  expect(record.handle).toMatchObject({ isLocal: true })
  const left = new AbortController()
  const waiting = [ask({ priority: 'critical', signal: left.signal }), ask({ priority: 'normal' })]
  expect(record.handle?.waiting()).toBe(2)
  waiting.push(ask({ priority: 'low' }))
  left.abort()
  await settled()
  expect(record.handle?.waiting()).toBe(1)
  clock.advance(100)
  await settled()
  expect(record.handle?.waiting()).toBe(0)
  expect(record.reasons).toEqual(['low queue-full', 'normal timeout'])
  expect(record.left).toEqual([{ name: 'jobs', limit: 1, priority: 'critical' }])
  held?.release()
  expect(await Promise.all(waiting)).toEqual([undefined, undefined, undefined])
})

test('a client that has left before its request waits is not denied either', async () => {
  const [clock, record] = [new FakeClock(), new Record()]
  const backend = prioritizedInflight({ queue: { max: 2, maxWaitMs: 100 }, clock })
  const cap = createInflightLimiter({ limit: 1, backend, clock, observers: [record] })
  expect(await cap.acquire('', { signal: AbortSignal.abort() })).toBeUndefined()
  expect([record.denied.length, record.left.length, cap.count()]).toEqual([0, 1, 0])
})

test('requests that give way to more important ones are denied for their priority', async () => {
  const [clock, record] = [new FakeClock(), new Record()]
  const backend = prioritizedInflight({ clock })
  const cap = createInflightLimiter({ limit: 2, backend, clock, observers: [record] })
  for (let request = 0; request < 200; request++) {
    await cap.acquire('', { priority: request % 2 === 0 ? 'high' : 'sheddable' })
    clock.advance(10)
  }
  expect(new Set(record.reasons)).toEqual(new Set(['high full', 'sheddable full', 'sheddable priority']))
})

test('denials of other backends have a reason as well, and released permits have neither', async () => {
  const record = new Record()
  const released: ObservedCap[] = []
  const observers = [record, { permitReleased: (_key: string, _ms: number, cap: ObservedCap) => released.push(cap) }]
  const cap = createInflightLimiter({ limit: adaptive({ min: 1, max: 4, initial: 2 }), observers })
  const permit = cap.acquire('a', { weight: 2, priority: 'low' })
  for (const weight of [1, 9]) cap.acquire('a', { weight })
  record.handle?.control({ blockedMs: () => 5_000 })
  cap.acquire('a')
  permit?.release()
  expect(record.reasons).toEqual(['undefined full', 'undefined weight', 'undefined blocked'])
  expect(record.denied.map(({ limit }) => limit)).toEqual([2, 2, 2])
  expect(released).toEqual([{ name: 'inflight', limit: 2 }])
})
