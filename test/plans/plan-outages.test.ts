import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import {
  type Answer,
  type Backend,
  type Charge,
  type CompiledPolicy,
  type CountedKey,
  type Counter,
  memoryBackend,
} from '@sluice/limiter-core'
import { FakeClock, FrontCounters, Warnings } from '@sluice/testkit'
import { algorithmNames } from '../algorithms/any-policy.ts'
import { HOUR, MINUTE, type Plans } from './any-plans.ts'
import { PlanSite } from './plan-site.ts'

/** An asynchronous backend that can be unavailable, and can recover without its counts. */
class Remote implements Backend<Promise<Answer>> {
  readonly name = 'remote'
  away = false
  readonly #clock: FakeClock
  #memory: Backend<Answer>
  #counters: FrontCounters

  constructor(clock: FakeClock) {
    this.#clock = clock
    this.#memory = memoryBackend({ clock })
    this.#counters = new FrontCounters(this.#memory)
  }

  lose(): void {
    this.#memory = memoryBackend({ clock: this.#clock })
    this.#counters = new FrontCounters(this.#memory)
  }

  open(compiled: CompiledPolicy, name: string): Counter<Promise<Answer>> {
    return this.#counters.open(this, compiled, name)
  }

  takeAll(charges: readonly Charge[]): Promise<Answer> {
    return this.#later(() => this.#memory.takeAll(this.#counters.behind(charges)))
  }

  peekAll(charges: readonly Charge[]): Promise<Answer> {
    return this.#later(() => this.#memory.peekAll(this.#counters.behind(charges)))
  }

  adjustAll(charges: readonly Charge[], takenAt: number): Promise<Answer> {
    return this.#later(() => this.#memory.adjustAll(this.#counters.behind(charges), takenAt))
  }

  resetAll(keys: readonly CountedKey[]): Promise<void> {
    return this.#later(() => this.#memory.resetAll(this.#counters.behind(keys)) as undefined)
  }

  async #later<T>(run: () => T): Promise<T> {
    await Promise.resolve()
    if (this.away) throw new Error('away')
    return run()
  }
}

const warnings = new Warnings()
beforeEach(() => warnings.listen())
afterEach(() => warnings.stop())

const pairs = algorithmNames.flatMap((free) => algorithmNames.map((pro) => [free, pro] as const))

function plansOf(free: (typeof pairs)[number][0], pro: (typeof pairs)[number][1], limit = 100): Plans {
  return {
    free: { algorithm: free, limit: 20, windowMs: HOUR },
    pro: { algorithm: pro, limit, windowMs: free === pro ? HOUR : MINUTE },
  }
}

function site(plans: Plans): { readonly clock: FakeClock; readonly remote: Remote; readonly plan: PlanSite } {
  const clock = new FakeClock({ nowMs: 17 })
  const remote = new Remote(clock)
  return { clock, remote, plan: new PlanSite(plans, clock, remote) }
}

describe.each(pairs)('%s and %s', (free, pro) => {
  test('units used under one plan count under the other while the backend is unavailable', async () => {
    const { remote, plan } = site(plansOf(free, pro))
    await plan.take('pro', 50)
    remote.away = true
    expect((await plan.take('free')).allowed).toBe(false)
    expect(await plan.left('pro')).toBe(50)
    expect((await plan.take('pro', 50)).source).toBe('local')
    expect((await plan.take('pro')).allowed).toBe(false)
    expect((await plan.take('free')).allowed).toBe(false)
    plan.close()
  })

  test('the last known count is the last result of any plan', async () => {
    const { remote, plan } = site(plansOf(free, pro))
    for (const [name, cost] of [
      ['pro', 1],
      ['free', 1],
      ['pro', 48],
    ] as const) {
      expect((await plan.take(name, cost)).allowed).toBe(true)
    }
    remote.away = true
    expect((await plan.take('free')).allowed).toBe(false)
    plan.close()
  })

  test('a backend that lost its counts receives them again under either plan', async () => {
    const { remote, plan } = site(plansOf(free, pro))
    await plan.take('pro', 50)
    remote.away = true
    await plan.peek('pro')
    remote.away = false
    remote.lose()
    const denied = await plan.take('free')
    expect([denied.allowed, denied.counted]).toEqual([false, true])
    plan.close()
  })
})
