import { expect, test } from '@jest/globals'
import { durableObjectBackend, type LimitStub } from '@sluice/cloudflare'
import { type Backend, type Charge, type Policy, PolicyVariants, systemClock } from '@sluice/limiter-core/backend'
import { eachSeed, numberOfRuns, openedCounter, type SeededRandom } from '@sluice/testkit'
import { InProcessObjects } from '../../cloudflare/in-process-objects.ts'

const RUNS = 300
const LIMIT = 10
const windowMs = 3_600_000
const POLICIES: readonly Policy[] = [
  { name: 'hour', algorithm: 'fixed-window', limit: LIMIT, windowMs },
  { name: 'log', algorithm: 'sliding-log', limit: LIMIT, windowMs },
  { name: 'sliding', algorithm: 'sliding-window', limit: LIMIT, windowMs },
  { name: 'slices', algorithm: 'sliding-window', limit: LIMIT, windowMs, slices: 6 },
  { name: 'bucket', algorithm: 'token-bucket', limit: LIMIT, windowMs },
]
/** Policies of one name with different cells. */
const PLANS: readonly Policy[] = [
  { name: 'plans', algorithm: 'sliding-log', limit: LIMIT, windowMs },
  { name: 'plans', algorithm: 'token-bucket', limit: LIMIT, windowMs },
]
const HOSTILE: readonly unknown[] = [
  ...[undefined, null, true, '', 'x', '__proto__', 'constructor', [], {}, [[]], [null], 'x'.repeat(3_000)],
  ...[-1, 0, 0.5, 2, 99, -1e9, 1e9, 1e15, 2 ** 53, 1e300, -1e300],
]
const KNOWN = { used: 1, resetAfterMs: 60_000, ageMs: 5, admitted: { uncounted: 1, unsure: 1, upTo: 3, ageMs: 5 } }

/** Returns a copy of `value` with one part replaced, also within texts that contain JSON. */
function replaced(value: unknown, random: SeededRandom): unknown {
  if (typeof value === 'string' && value.startsWith('{')) return JSON.stringify(replaced(JSON.parse(value), random))
  const keys = typeof value === 'object' && value !== null ? Object.keys(value) : []
  if (keys.length === 0 || random.whole(8) === 0) return random.pick(HOSTILE)
  const key = random.pick(keys)
  const part = replaced((value as Record<string, unknown>)[key], random)
  return Array.isArray(value) ? value.with(Number(key), part) : { ...(value as object), [key]: part }
}

/** The bodies of calls of all operations. */
class Calls {
  readonly bodies: string[] = []
  readonly #backend: Backend

  constructor(stub: LimitStub) {
    const fetch: LimitStub['fetch'] = (url, init) => {
      this.bodies.push(init.body)
      return stub.fetch(url, init)
    }
    this.#backend = durableObjectBackend({ idFromName: () => ({}), get: () => ({ fetch }) }, { shards: 1 })
  }

  async make(): Promise<void> {
    const backend = this.#backend
    await backend.takeAll(this.#charges(2).map((charge) => ({ ...charge, known: KNOWN })))
    const { takenAt } = await backend.takeAll(this.#charges(1))
    const moment = { idempotencyKey: { id: 'one', issuedAt: systemClock.now() } }
    await backend.adjustAll(this.#charges(-1), takenAt, moment)
    await backend.resetAll(this.#charges(0).slice(0, 1))
  }

  /** Returns the numbers of all verdicts. */
  async numbers(): Promise<readonly number[]> {
    const { verdicts } = await this.#backend.peekAll(this.#charges(1))
    return verdicts.flatMap(({ remaining, resetAfterMs }) => [remaining, resetAfterMs])
  }

  #charges(cost: number): Charge[] {
    const charges = POLICIES.map((policy) => {
      return { key: 'a', counter: openedCounter(this.#backend, 'hostile', policy), cost }
    })
    const plans = new PolicyVariants(PLANS)
    const compiled = plans.compile(PLANS[0])
    return [...charges, { key: 'a', counter: this.#backend.open(compiled, `hostile/plans/${plans.layoutName}`), cost }]
  }
}

test('a call with a wrong part is refused or decided, and all counts are still numbers', async () => {
  const statuses = { 200: 0, 400: 0 }
  await eachSeed(RUNS, async (random) => {
    const objects = new InProcessObjects()
    const stub = objects.get({ name: 'x' })
    const calls = new Calls(stub)
    await calls.make()
    const [{ values }] = [...objects.storages.values()]
    const before = structuredClone(values)
    const body = JSON.stringify(replaced(JSON.parse(random.pick(calls.bodies)), random)) ?? ''
    const { status } = await stub.fetch('https://sluice.invalid/', { method: 'POST', body })
    statuses[status as 200 | 400]++
    if (status === 400) expect(values).toEqual(before)
    objects.restart()
    expect((await calls.numbers()).every(Number.isFinite)).toBe(true)
  })
  expect(statuses[200] + statuses[400]).toBe(numberOfRuns(RUNS))
  expect(statuses[400]).toBeGreaterThan(numberOfRuns(RUNS) / 2)
})
