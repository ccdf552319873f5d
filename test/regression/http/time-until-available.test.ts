import { describe, expect, test } from '@jest/globals'
import { LeasingBackend, MemoryLedger } from '@sluice/fleet/leases'
import {
  type Answer,
  type Backend,
  createLimiter,
  type Decision,
  type Limiter,
  type MaybePromise,
  memoryBackend,
  type PolicyInput,
} from '@sluice/limiter-core'
import { redisBackend } from '@sluice/redis'
import { sketchBackend } from '@sluice/sketches/limits'
import { baseSeed, eachSeed, FakeClock, failingBackend, parseList, seededRandom } from '@sluice/testkit'
import { PairedPrimary } from '../../cluster/paired.ts'
import { frontBackend } from '../../contracts/front-backend.ts'
import { entryOf, linesOf } from '../../http/header-fields.ts'
import { ownPrefix } from '../../redis/exact/own-prefix.ts'
import { redisForTests } from '../../services/redis/redis-for-tests.ts'

const redis = redisForTests()

type Shape = Pick<PolicyInput, 'algorithm' | 'limit' | 'window' | 'slices' | 'burst'>

const SHAPES: readonly Shape[] = [
  { algorithm: 'fixed-window', limit: 5, window: '15m' },
  { algorithm: 'sliding-window', limit: 5, window: '15m' },
  { algorithm: 'sliding-window', limit: 500, window: '1m' },
  { algorithm: 'sliding-window', limit: 7, window: '1m', slices: 6 },
  { algorithm: 'sliding-log', limit: 5, window: '15m' },
  { algorithm: 'token-bucket', limit: 5, window: '15m' },
  { algorithm: 'token-bucket', limit: 60, window: '1m', burst: 10 },
  { algorithm: 'gcra', limit: 5, window: '15m' },
]

/** `r` and `t` of the only item of the `RateLimit` header. */
function told(decision: Decision): { readonly r: number; readonly t: number } {
  const [{ params }] = parseList(linesOf([entryOf(decision)]).RateLimit)
  return params as unknown as { r: number; t: number }
}

function retryAfter({ retryAfterMs }: Decision): number {
  return Math.ceil(retryAfterMs / 1_000)
}

const terms = { fraction: 0.1, leaseMs: 2_000 }

/** Backends that report the exact first millisecond at which more units are left. */
const EXACT: Readonly<Record<string, (clock: FakeClock) => MaybePromise<Backend>>> = {
  memory: (clock) => memoryBackend({ clock }),
  Redis: async (clock) => {
    const client = redis.server.client()
    await client.ping()
    return redisBackend(client, { prefix: ownPrefix(), clock, serverTime: () => clock.now() })
  },
}

/** Backends that estimate the first millisecond at which more units are left. */
const OTHERS: Readonly<Record<string, (clock: FakeClock) => Backend>> = {
  sketches: (clock) => sketchBackend({ clock }),
  leases: (clock) => {
    const ledger = new MemoryLedger('ledger', memoryBackend({ clock }), terms, () => clock.now())
    return new LeasingBackend({ name: 'leased', exact: ledger, ledger, terms, clock })
  },
  'a cluster': (clock) => new PairedPrimary(terms, clock).worker(),
  'a mirror': () =>
    failingBackend(() => {
      throw new Error('down')
    }, 'down'),
}

const about = ({ algorithm, limit, window, slices, burst }: Shape): string =>
  [algorithm, limit, window, slices, burst].filter((part) => part !== undefined).join(' ')

describe.each(Object.entries(EXACT))('with counts in %s', (_name, backendOf) => {
  test.each(SHAPES.map((shape) => [about(shape), shape] as const))(
    '%s: `t` is the first second at which more than `r` units are left',
    (_about, shape) =>
      eachSeed(3, async (random) => {
        const clock = new FakeClock({ nowMs: 1_000 })
        const limiter = createLimiter({ policies: [shape], backend: await backendOf(clock), clock }) as Limiter<
          MaybePromise<Decision>
        >
        const left = async (): Promise<number> => (await limiter.peek('key', 0)).binding.remaining
        const most = await left()
        for (let takes = 0; takes < 60; takes++) {
          clock.advance(random.pick([0, 0, 1, 400, 30_000, random.whole(900_000)]))
          const cost = random.pick([1, 1, 1, 1 + random.whole(most)])
          const decision = await limiter.take('key', cost)
          const { r, t } = told(decision)
          expect(r).toBe(await left())
          expect(t === 0).toBe(r === most)
          if (!decision.allowed) {
            expect(t).toBeLessThanOrEqual(retryAfter(decision))
            if (cost === 1) expect({ r, t }).toEqual({ r: 0, t: retryAfter(decision) })
          }
          if (t === 0 || random.whole(3) > 0) continue
          clock.advance((t - 1) * 1_000)
          expect(await left()).toBe(r)
          clock.advance(1_000)
          expect(await left()).toBeGreaterThan(r)
        }
        limiter.close()
      }),
  )
})

describe.each(Object.entries(OTHERS))('with counts in %s', (_name, backendOf) => {
  test.each([3, 1_000])(
    '`t` of a limit of %d is present in every answer, and equals `Retry-After` of a denial of one unit',
    async (limit) => {
      const clock = new FakeClock({ nowMs: 1_000 })
      const policies = [{ limit, window: '1m', algorithm: 'fixed-window' }] as const
      const limiter = createLimiter({ policies, backend: backendOf(clock), clock, deadlineMs: 10_000 })
      const random = seededRandom(baseSeed())
      let denials = 0
      for (let takes = 0; takes < 30; takes++) {
        const decision = await limiter.take('key', random.pick([1, Math.ceil(limit / 5)]))
        expect(told(decision).t).toBeGreaterThanOrEqual(1)
        expect(told(decision).t).toBeLessThanOrEqual(60)
      }
      for (let takes = 0; takes < 2 * limit && denials < 5; takes++) {
        const decision = await limiter.take('key')
        if (decision.allowed) continue
        denials++
        expect(told(decision)).toEqual({ r: 0, t: retryAfter(decision) })
      }
      expect(denials).toBe(5)
      limiter.close()
    },
  )
})

describe('a backend that does not report when more units are left', () => {
  const without = (clock: FakeClock, flat: boolean): Backend<Answer> => {
    const untold = ({ verdicts, ...answer }: Answer): Answer => ({
      ...answer,
      verdicts: verdicts.map(({ availableAfterMs: _, ...verdict }) => Object.freeze(verdict)),
    })
    const backend = frontBackend('older', memoryBackend({ clock }), (ask) => untold(ask()))
    if (!flat) return backend
    // a decision that is its own verdict, as a backend written in JavaScript may return
    const open: Backend<Answer>['open'] = (compiled, name) => {
      const counter = backend.open(compiled, name)
      const take = (key: string, cost: number): Decision => {
        const answer = backend.takeAll([{ key, counter, cost }])
        const { policy: _, ...numbers } = answer.verdicts[0]
        const decision: Record<string, unknown> = { ...answer, ...numbers, policy: compiled.policy }
        return Object.assign(decision, { binding: decision, verdicts: [decision] }) as never
      }
      return { compiled, name, take }
    }
    return { ...backend, open }
  }

  test.each([false, true])('leads to the latest possible instant (flat: %p)', (flat) => {
    const clock = new FakeClock({ nowMs: 1_000 })
    const policies = [{ limit: 5, window: '1m', algorithm: 'token-bucket' }] as const
    const limiter = createLimiter({ policies, backend: without(clock, flat), clock })
    expect(told(limiter.take('key', 0))).toEqual({ r: 5, t: 0 })
    expect(told(limiter.take('key', 3))).toEqual({ r: 2, t: 36 })
    expect(told(limiter.take('key', 4))).toEqual({ r: 2, t: 24 })
    expect(limiter.peek('key', 4).binding.availableAfterMs).toBe(24_000)
    expect(told(limiter.take('key', 6))).toEqual({ r: 0 })
    limiter.close()
  })
})

test('a client that follows the draft uses all of a limit, not half of it', () => {
  const clock = new FakeClock({ nowMs: 1_000 })
  const limiter = createLimiter({ policies: [{ limit: 5, window: '15m', algorithm: 'sliding-window' }], clock })
  let taken = 0
  for (const end = clock.now() + 20 * 900_000; clock.now() < end; ) {
    const decision = limiter.take('key')
    if (decision.allowed) taken++
    const { r, t } = told(decision)
    if (r === 0) clock.advance(t * 1_000)
  }
  expect(taken).toBe(100)
  limiter.close()
})

test('a serialized decision includes the time until more units are left', () => {
  const limiter = createLimiter({ policies: [{ limit: 2, window: '1m' }], clock: new FakeClock() })
  expect(JSON.parse(JSON.stringify(limiter.take('key'))).binding.availableAfterMs).toBe(60_000)
  limiter.close()
})
