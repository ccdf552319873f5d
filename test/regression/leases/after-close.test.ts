import { describe, expect, test } from '@jest/globals'
import { type LeaseGrant, type LeaseRequest, LeasingBackend, MemoryLedger } from '@sluice/fleet/leases'
import { createLimiter, memoryBackend } from '@sluice/limiter-core'
import { afterThisTurn } from '@sluice/limiter-core/backend'
import { FakeClock } from '@sluice/testkit'

const TERMS = { fraction: 0.1, leaseMs: 2_000 }
const turn = (): Promise<void> => new Promise((resolve) => afterThisTurn(resolve))

/** A process whose ledger can withhold its answers. */
function processOf() {
  const clock = new FakeClock()
  const memory = new MemoryLedger('ledger', memoryBackend({ clock }), TERMS, () => clock.now())
  const asked: (readonly LeaseRequest[])[] = []
  const held: (() => void)[] = []
  const state = { isSilent: false }
  const ledger = {
    request(asks: readonly LeaseRequest[]): Promise<readonly (LeaseGrant | Error)[]> {
      asked.push(asks)
      if (!state.isSilent) return Promise.resolve(memory.request(asks))
      return new Promise((resolve) => held.push(() => resolve(memory.request(asks))))
    },
  }
  const backend = new LeasingBackend({ name: 'leased', exact: memory, ledger, terms: TERMS, clock })
  const policies = [{ name: 'calls', limit: 1_000, window: '1h', algorithm: 'fixed-window', backend } as const]
  const limiter = createLimiter({ policies, clock, deadlineMs: 500, onBackendError: 'allow' })
  return { clock, backend, limiter, asked, held, state }
}

async function closed({ backend, clock }: ReturnType<typeof processOf>): Promise<void> {
  let isClosed = false
  const closing = backend.close().then(() => {
    isClosed = true
  })
  for (let i = 0; i < 40 && !isClosed; i++) {
    for (let turns = 0; turns < 3; turns++) await turn()
    clock.advance(50)
  }
  await closing
}

describe('leases of a closed process', () => {
  test('are not reported again, even if a silent ledger answers later, and no timer is left', async () => {
    const one = processOf()
    await one.limiter.take('a')
    one.state.isSilent = true
    const waiting = one.limiter.take('b')
    await turn()
    await closed(one)
    await waiting
    const before = one.asked.length
    for (const answer of one.held) answer()
    for (let i = 0; i < 5; i++) await turn()
    one.clock.advance(60_000)
    for (let i = 0; i < 5; i++) await turn()
    expect(one.asked.length).toBe(before)
    expect(one.clock.pending).toBe(0)
  })

  test('are not requested again by later takes', async () => {
    const one = processOf()
    await one.limiter.take('a')
    await closed(one)
    const before = one.asked.length
    expect(await one.limiter.take('a')).toMatchObject({ allowed: true, counted: false })
    await turn()
    one.clock.advance(60_000)
    await turn()
    expect(one.asked.length).toBe(before)
  })

  test('are all returned, including leases of requests that came during close', async () => {
    const one = processOf()
    await one.limiter.take('a')
    const closing = one.backend.close()
    const late = one.limiter.take('b')
    for (let i = 0; i < 5; i++) await turn()
    await Promise.all([closing, late])
    const last = new Map(one.asked.flat().map((ask) => [ask.key, ask]))
    expect([...last.values()].map(({ key, keep, want }) => [key, keep, want])).toEqual([
      ['a', 0, 0],
      ['b', 0, 0],
    ])
    expect((await late).counted).toBe(true)
    expect(one.clock.pending).toBe(0)
  })
})
