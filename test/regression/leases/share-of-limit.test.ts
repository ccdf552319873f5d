import { describe, expect, test } from '@jest/globals'
import { type LeaseRequest, LeasingBackend, MemoryLedger } from '@sluice/fleet/leases'
import { type Charge, memoryBackend } from '@sluice/limiter-core'
import { FakeClock, openedCounter } from '@sluice/testkit'

const LIMIT = 1_000
const NODES = 20

/**
 * The earlier scheme: each node may spend a tenth of the limit before its first request, reports its count when that is
 * used up, lets the request that triggered the report pass uncounted, and adds to one total without a window.
 */
class PreGrantedNode {
  #budget = LIMIT * 0.1
  #count = 0
  readonly #shared: { total: number }

  constructor(shared: { total: number }) {
    this.#shared = shared
  }

  allow(): boolean {
    if (this.#count < this.#budget) {
      this.#count++
      return true
    }
    this.#shared.total += this.#count
    this.#count = 0
    if (this.#shared.total > LIMIT) return false
    this.#budget = LIMIT * 0.1
    return true
  }
}

/** The same nodes with leases. */
function leasingNodes(clock: FakeClock): () => Promise<boolean>[] {
  const terms = { fraction: 0.1, leaseMs: 2_000 }
  const exact = new MemoryLedger('ledger', memoryBackend({ clock }), terms, () => clock.now())
  const ledger = { request: (asks: readonly LeaseRequest[]) => Promise.resolve(exact.request(asks)) }
  const one = { name: 'one', algorithm: 'fixed-window', limit: LIMIT, windowMs: 60_000 } as const
  const nodes = Array.from({ length: NODES }, () => {
    const node = new LeasingBackend({ name: 'leased', exact, ledger, terms, clock })
    const charge: Charge = { key: 'a', counter: openedCounter(node, 'nodes', one), cost: 1 }
    return () => node.takeAll([charge])
  })
  return () => nodes.map(async (take) => (await take()).verdicts[0].allowed)
}

async function admitted(rounds: number, round: () => readonly (boolean | Promise<boolean>)[]): Promise<number> {
  let sum = 0
  for (let done = 0; done < rounds; done++) {
    for (const allowed of await Promise.all(round())) if (allowed) sum++
  }
  return sum
}

describe('twenty nodes that share a limit of 1,000', () => {
  test('admitted more than twice the limit if each was granted a tenth in advance, and nothing in the next window', async () => {
    const shared = { total: 0 }
    const nodes = Array.from({ length: NODES }, () => new PreGrantedNode(shared))
    const round = (): boolean[] => nodes.map((node) => node.allow())
    expect(await admitted(300, round)).toBeGreaterThan(2 * LIMIT)
    // without a window, every node is denied forever, except for what it grants itself
    expect(shared.total).toBeGreaterThan(LIMIT)
  })

  test('admit exactly the limit with leases, and the limit again in the next window', async () => {
    const clock = new FakeClock({ nowMs: 1_000 })
    const round = leasingNodes(clock)
    expect(await admitted(300, round)).toBe(LIMIT)
    clock.advance(70_000)
    expect(await admitted(300, round)).toBe(LIMIT)
  })
})
