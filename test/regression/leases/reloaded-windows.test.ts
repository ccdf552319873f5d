import { expect, test } from '@jest/globals'
import { LeasingBackend, MemoryLedger } from '@sluice/fleet/leases'
import { memoryBackend, type PolicyInput } from '@sluice/limiter-core'
import { compileFailover, Observers, openPolicies, PolicyLimiter } from '@sluice/limiter-core/http'
import { eachSeed, FakeClock, FrontCounters, type SeededRandom } from '@sluice/testkit'
import { frontBackend } from '../../contracts/front-backend.ts'
import { settled } from '../../leases/settled.ts'

const TERMS = { fraction: 0.1, leaseMs: 2_000 }
const LIMIT = 10_000

type Form = Omit<PolicyInput, 'name'>

const BEFORE: Form = { algorithm: 'fixed-window', limit: LIMIT, window: '1h' }
const AFTER: Form = { algorithm: 'fixed-window', limit: LIMIT, window: '2h' }

/** Processes that lease units of one ledger. */
function fleet(count: number) {
  const clock = new FakeClock({ nowMs: 1_000 })
  const memory = new MemoryLedger('ledger', memoryBackend({ clock }), TERMS, () => clock.now())
  const processes = Array.from({ length: count }, () => {
    const exact = frontBackend('exact', memory, async (run) => run())
    const counters = new FrontCounters(memory)
    const ledger = {
      request: async (asks: Parameters<MemoryLedger['request']>[0]) => memory.request(counters.behind(asks)),
    }
    const backend = new LeasingBackend({ name: 'leased', exact, ledger, terms: TERMS, clock })
    const identity = {}
    const open = (form: Form): PolicyLimiter => {
      const [opened] = openPolicies([[{ name: 'p', ...form }]], { backend, identity, clock })
      return new PolicyLimiter(opened, clock, new Observers(), compileFailover({ deadlineMs: 20_000 }))
    }
    let limiter = open(BEFORE)
    const reload = (form: Form): void => {
      const next = open(form)
      next.replace(limiter)
      limiter = next
    }
    return { take: async () => (await limiter.take('key')).allowed, peek: () => limiter.peek('key'), reload, backend }
  })
  return { clock, processes }
}

async function advanced(clock: FakeClock, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 100) {
    clock.advance(100)
    await settled()
  }
}

async function countedBy({ processes }: ReturnType<typeof fleet>): Promise<number> {
  return LIMIT - (await processes[0].peek()).binding.remaining
}

test.each([1, 2, 4])(
  'a reload of %i processes counts what was admitted, and no unit that was only leased',
  async (count) => {
    const all = fleet(count)
    const { clock, processes } = all
    let admitted = 0
    for (let step = 0; step < 200; step++) {
      for (const { take } of processes) if (await take()) admitted++
      if (step % 10 === 0) await advanced(clock, 100)
    }
    for (const { reload } of processes) reload(AFTER)
    for (const { take } of processes) if (await take()) admitted++
    await advanced(clock, 10_000)
    expect(await countedBy(all)).toBe(admitted)
  },
)

const FORMS: readonly Form[] = [
  BEFORE,
  AFTER,
  { algorithm: 'sliding-window', limit: LIMIT, window: '3h' },
  { algorithm: 'sliding-window', slices: 6, limit: LIMIT, window: '6h' },
]

test('several reloads of several processes count each admitted unit once', () =>
  eachSeed(30, async (random: SeededRandom) => {
    const all = fleet(1 + random.whole(4))
    const { clock, processes } = all
    let admitted = 0
    for (let round = 0; round < 4; round++) {
      for (let step = random.whole(100); step > 0; step--) {
        for (let times = random.whole(20); times > 0; times--) if (await random.pick(processes).take()) admitted++
        if (random.whole(3) === 0) await advanced(clock, 100 * random.whole(8))
      }
      const form = random.pick(FORMS)
      for (const { reload } of processes) reload(form)
      for (const { take } of processes) if (await take()) admitted++
    }
    await advanced(clock, 10_000)
    expect(await countedBy(all)).toBe(admitted)
  }))
