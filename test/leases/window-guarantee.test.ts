import { afterAll, describe, expect, test } from '@jest/globals'
import type { LeaseRequest } from '@sluice/fleet/leases'
import { type Backend, type Charge, type CompiledPolicy, memoryBackend, type Policy } from '@sluice/limiter-core'
import { algorithms } from '@sluice/limiter-core/backend'
import {
  eachSeed,
  LeasedFleet,
  type LeasedProcess,
  type LeaseNetwork,
  openedCounter,
  type SeededRandom,
} from '@sluice/testkit'
import { settled } from './settled.ts'
import { Spends } from './spends.ts'

const policies: readonly Policy[] = [
  { name: 'fixed', algorithm: 'fixed-window', limit: 200, windowMs: 20_000 },
  { name: 'two-epoch', algorithm: 'sliding-window', limit: 200, windowMs: 20_000 },
  { name: 'sliced', algorithm: 'sliding-window', limit: 200, windowMs: 20_000, slices: 10 },
  { name: 'bucket', algorithm: 'token-bucket', limit: 200, windowMs: 20_000, burst: 100 },
  { name: 'gcra', algorithm: 'gcra', limit: 200, windowMs: 20_000 },
]
const calm: LeaseNetwork = { lostOneIn: 0, lateOneIn: 0 }
const breeze: LeaseNetwork = { lostOneIn: 40, lateOneIn: 8 }
const storm: LeaseNetwork = { lostOneIn: 12, lateOneIn: 12 }
const measured: string[] = []
// tolerance for sums of doubles
const EPSILON = 1e-4
const ROUNDS = 700

function chargeOf(backend: Backend, { policy }: CompiledPolicy, key: string, cost: number, advisory = false): Charge {
  return { key, counter: openedCounter(backend, 'fleet', policy), cost, advisory }
}

/** The fraction of the guaranteed units in any window that was taken. 1 is the guarantee. */
function takenOf({ policy, capacity }: CompiledPolicy, spends: Spends): number {
  const perMs = policy.limit / policy.windowMs
  if (policy.algorithm === 'token-bucket' || policy.algorithm === 'gcra') return spends.worstBurst(perMs) / capacity
  return spends.worstWindow(policy.windowMs) / (policy.slices ? policy.limit : 2 * policy.limit)
}

interface Scene {
  readonly network: LeaseNetwork
  readonly accidents: boolean
  readonly tamper?: (ask: LeaseRequest) => LeaseRequest
}

/** Simulates traffic of four processes above the limit with failures, and one exact counter with the same traffic. */
async function simulate(
  compiled: CompiledPolicy,
  random: SeededRandom,
  { network, accidents, tamper }: Scene,
): Promise<[Spends, number]> {
  const fleet = new LeasedFleet(random, { fraction: 0.1, leaseMs: 2_000 }, network)
  if (tamper) fleet.tamper = tamper
  const exact = memoryBackend({ clock: fleet.clock })
  let exactly = 0
  for (let count = 0; count < 4; count++) fleet.start()
  const spends = new Spends()
  const take = async (process: LeasedProcess, cost: number): Promise<void> => {
    const answer = await process.backend.takeAll([chargeOf(process.backend, compiled, 'a', cost)])
    if (answer.verdicts[0].allowed && process.state !== 'gone') spends.add(fleet.clock.now(), cost)
  }
  for (let round = 0; round < ROUNDS; round++) {
    for (const process of fleet.processes) {
      if (process.state !== 'runs' || random.whole(3) > 0) continue
      for (let takes = random.whole(4); takes > 0; takes--) {
        const cost = random.pick([1, 1, 1, 2, 7])
        if (exact.takeAll([chargeOf(exact, compiled, 'a', cost)]).verdicts[0].allowed) exactly += cost
        take(process, cost).catch(() => undefined)
      }
    }
    if (accidents) befall(fleet, random)
    await settled()
    await fleet.pass(random.pick([5, 20, 100, 250]))
  }
  return [spends, exactly]
}

function befall(fleet: LeasedFleet, random: SeededRandom): void {
  const process = random.pick(fleet.processes)
  if (random.whole(60) === 0 && process.state === 'runs') {
    process.kill()
    fleet.start()
  }
  if (random.whole(40) === 0) process.stop()
  if (random.whole(10) === 0) process.wake()
}

describe.each(policies)('four processes that lease from a $name', (policy) => {
  const compiled = algorithms[policy.algorithm].compile(policy)

  test('admit no more than the policy guarantees, whatever crashes, stalls or is lost', async () => {
    await eachSeed(2, async (random) => {
      const [spends] = await simulate(compiled, random, { network: storm, accidents: true })
      expect(takenOf(compiled, spends)).toBeLessThanOrEqual(1 + EPSILON)
      expect(spends.total).toBeGreaterThan(policy.limit)
    })
  })

  test('admit nearly as much as an exact counter while nothing fails', async () => {
    await eachSeed(1, async (random) => {
      const [spends, exactly] = await simulate(compiled, random, { network: calm, accidents: false })
      expect(takenOf(compiled, spends)).toBeLessThanOrEqual(1 + EPSILON)
      measured.push(`${policy.name}: ${spends.total} units, ${exactly} by one exact count`)
      expect(spends.total / exactly).toBeGreaterThan(0.9)
    })
  })
})

describe('the simulation detects over-admission', () => {
  const [, , sliced] = policies
  const compiled = algorithms[sliced.algorithm].compile(sliced)
  const faults: readonly (readonly [string, (ask: LeaseRequest) => LeaseRequest])[] = [
    ['if leased units are not withheld', (ask) => ({ ...ask, keep: 0 })],
    ['if spent units are not charged', (ask) => ({ ...ask, spent: 0 })],
    ['if only half of the spent units is charged', (ask) => ({ ...ask, spent: Math.floor(ask.spent / 2) })],
  ]

  test.each(faults)('%s', async (_name, tamper) => {
    let worst = 0
    await eachSeed(20, async (random) => {
      if (worst > 1) return
      const [spends] = await simulate(compiled, random, { network: breeze, accidents: true, tamper })
      worst = Math.max(worst, takenOf(compiled, spends))
    })
    expect(worst).toBeGreaterThan(1)
  })
})

afterAll(() => {
  process.stdout.write(`${measured.join('\n')}\n`)
})
