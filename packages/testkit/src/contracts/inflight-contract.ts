import assert from 'node:assert/strict'
import type { Clock, InflightLimiter, MaybePromise, Observer, Permit } from '@sluice/limiter-core'
import { FakeClock } from '../fake-clock.ts'
import { eachSeed, type SeededRandom } from '../seeded-random.ts'
import type { TestRunner } from '../suite-runner.ts'

/** Parameters of the cap under test. */
export interface MadeInflightOptions {
  readonly limit: number
  readonly clock: Clock
  readonly observers: readonly Observer[]
  /** Ms; only where the claim is about it. */
  readonly maxHoldMs?: number | undefined
}

/** Creates a cap without held places that reads the time only from `clock`. */
export type MakeInflightLimiter = (options: MadeInflightOptions) => MaybePromise<InflightLimiter>

interface Bench {
  readonly limiter: InflightLimiter
  readonly clock: FakeClock
  /** Observed events, in order. */
  readonly events: readonly string[]
}

const LIMIT = 3
const HOLD_MS = 30_000
const YEAR_MS = 365 * 24 * 3_600_000
const RUNS = 15
// of reads, each a round trip: a release may still be on its way
const PATIENCE = 200

/** How caps deviate from the contract on purpose. */
export interface InflightContractOptions {
  /** Time in ms after which permits without `maxHoldMs` are revoked. Default: never. */
  readonly longestHoldMs?: number | undefined
}

/** The contract of every in-flight cap, synchronous or not. */
export function inflightContract(
  { describe, test }: TestRunner,
  makeLimiter: MakeInflightLimiter,
  { longestHoldMs = Number.POSITIVE_INFINITY }: InflightContractOptions = {},
): void {
  const onBench = async (run: (bench: Bench) => Promise<void>, maxHoldMs?: number): Promise<void> => {
    const clock = new FakeClock()
    const events: string[] = []
    const options = { limit: LIMIT, clock, observers: [recorder(events)] }
    const limiter = await makeLimiter(maxHoldMs === undefined ? options : { ...options, maxHoldMs })
    try {
      await run({ limiter, clock, events })
    } finally {
      await limiter.close()
    }
  }

  describe('fulfils the in-flight contract', () => {
    test('counts exactly with any order of acquisitions and releases', () =>
      eachSeed(RUNS, (random) => onBench((bench) => countsExactly(bench, random))))
    for (const [name, run] of Object.entries(claims)) test(name, () => onBench(run))
    test('does not lose a permit without a reason', () => onBench((bench) => keepsPermit(bench, longestHoldMs)))
    for (const [name, run] of Object.entries(holdClaims)) test(name, () => onBench(run, HOLD_MS))
  })
}

const claims: Readonly<Record<string, (bench: Bench) => Promise<void>>> = {
  'grants as many permits as its limit, and one more for each release': async ({ limiter }) => {
    const permits = [await held(limiter, 'a'), await held(limiter, 'a'), await held(limiter, 'a')]
    assert.equal(await limiter.acquire('a'), undefined)
    permits[1].release()
    await counts(limiter, 'a', 2)
    await held(limiter, 'a')
    assert.equal(await limiter.acquire('a'), undefined)
  },

  'applies the first release of a permit, and ignores later ones': async ({ limiter }) => {
    const permit = await held(limiter, 'a')
    await held(limiter, 'a')
    permit.release('dropped')
    permit.release()
    permit[Symbol.dispose]()
    await counts(limiter, 'a', 1)
  },

  'releases a permit at the end of its `using` block': async ({ limiter }) => {
    const permit = await held(limiter, 'a')
    permit[Symbol.dispose]()
    await counts(limiter, 'a', 0)
  },

  'counts each key separately, and all work without a key together': async ({ limiter }) => {
    for (let one = 0; one < LIMIT; one++) await held(limiter, 'a')
    await held(limiter, 'b')
    await held(limiter, undefined)
    await held(limiter, undefined)
    assert.deepEqual([await limiter.count('a'), await limiter.count('b'), await limiter.count()], [3, 1, 2])
  },

  'takes as many permits as the weight of the work, or none': async ({ limiter }) => {
    const heavy = await held(limiter, 'a', 2)
    assert.equal(await limiter.acquire('a', { weight: 2 }), undefined)
    assert.equal(await limiter.acquire('a', { weight: LIMIT + 1 }), undefined)
    await held(limiter, 'a')
    heavy.release()
    await counts(limiter, 'a', 1)
  },

  'holds no permit for work that was aborted before it began, and does not report it as denied': async (bench) => {
    const { limiter, events } = bench
    assert.equal(await limiter.acquire('a', { signal: AbortSignal.abort() }), undefined)
    await counts(limiter, 'a', 0)
    assert.deepEqual(events, ['left a'])
  },

  'reports permits, how long they were held, and denials to observers': async ({ limiter, clock, events }) => {
    const permits = [await held(limiter, 'a'), await held(limiter, 'a', 2)]
    await limiter.acquire('a')
    clock.advance(1_500)
    for (const permit of permits) permit.release()
    await counts(limiter, 'a', 0)
    assert.deepEqual(events, ['acquired a', 'acquired a', 'denied a', 'released a 1500', 'released a 1500'])
  },
}

const holdClaims: Readonly<Record<string, (bench: Bench) => Promise<void>>> = {
  'revokes a permit that is held too long, and notifies its holder': async ({ limiter, clock }) => {
    const early = await held(limiter, 'a')
    clock.advance(HOLD_MS / 2)
    const late = await held(limiter, 'a')
    clock.advance(HOLD_MS / 2)
    await counts(limiter, 'a', 1)
    assert.deepEqual([early.lost.aborted, late.lost.aborted], [true, false])
    clock.advance(HOLD_MS / 2)
    await counts(limiter, 'a', 0)
    assert.equal(late.lost.aborted, true)
  },

  'ignores the release of a lost permit': async ({ limiter, clock }) => {
    const lost = await held(limiter, 'a')
    clock.advance(HOLD_MS)
    await counts(limiter, 'a', 0)
    await held(limiter, 'a')
    lost.release()
    lost.release('dropped')
    await counts(limiter, 'a', 1)
  },
}

async function keepsPermit({ limiter, clock }: Bench, longestHoldMs: number): Promise<void> {
  const permit = await held(limiter, 'a')
  clock.advance(Math.min(YEAR_MS, longestHoldMs - 1))
  permit.release()
  assert.equal(permit.lost.aborted, false)
  await counts(limiter, 'a', 0)
}

async function countsExactly({ limiter, clock }: Bench, random: SeededRandom): Promise<void> {
  const held: { readonly key: string; readonly weight: number; readonly permit: Permit }[] = []
  const places = (key: string): number => held.reduce((sum, one) => sum + (one.key === key ? one.weight : 0), 0)
  for (let done = 0; done < 60; done++) {
    const key = random.pick(['a', 'b', 'c'])
    clock.advance(random.whole(5_000))
    if (random.whole(2) === 0 && held.length > 0) {
      held.splice(random.whole(held.length), 1)[0].permit.release(random.pick(['success', 'dropped']))
    } else {
      const weight = 1 + random.whole(2)
      const permit = await limiter.acquire(key, { weight })
      assert.equal(permit !== undefined, places(key) + weight <= LIMIT)
      if (permit) held.push({ key, weight, permit })
    }
    await counts(limiter, key, places(key))
  }
}

async function held(limiter: InflightLimiter, key: string | undefined, weight = 1): Promise<Permit> {
  const permit = await limiter.acquire(key, { weight })
  assert.ok(permit, `no place free for ${key}`)
  return permit
}

async function counts(limiter: InflightLimiter, key: string, expected: number): Promise<void> {
  let reads = 0
  while ((await limiter.count(key)) !== expected && ++reads < PATIENCE);
  assert.equal(await limiter.count(key), expected)
}

function recorder(events: string[]): Observer {
  return {
    permitAcquired: (key) => events.push(`acquired ${key}`),
    permitReleased: (key, heldMs) => events.push(`released ${key} ${heldMs}`),
    capDenied: (key) => events.push(`denied ${key}`),
    capLeft: (key) => events.push(`left ${key}`),
  }
}
