import { describe, expect, test } from '@jest/globals'
import { clusterBackend } from '@sluice/fleet'
import type { Answer, Backend, Charge, Policy } from '@sluice/limiter-core/backend'
import { backendContract, FakeClock, openedCounter } from '@sluice/testkit'
import { PairedPrimary } from './paired.ts'

const exactly = { fraction: 0.005, leaseMs: 2_000 }
const policy: Policy = { name: 'minute', algorithm: 'fixed-window', limit: 1_000, windowMs: 60_000 }

function charge(backend: Backend, cost = 1): Charge {
  return { key: 'a', counter: openedCounter(backend, 'cluster', policy), cost }
}

describe('a process without workers', () =>
  backendContract({ describe, test }, (clock) => clusterBackend({ clock }), { keepsHolds: true }))

describe('a worker with limits too small to lease', () =>
  backendContract({ describe, test }, (clock) => new PairedPrimary(exactly, clock as FakeClock).worker(), {
    keepsHolds: true,
  }))

describe('a worker', () => {
  const bench = (): { clock: FakeClock; primary: PairedPrimary; worker: Backend } => {
    const clock = new FakeClock({ nowMs: 1_000 })
    const primary = new PairedPrimary({ fraction: 0.1, leaseMs: 2_000 }, clock)
    return { clock, primary, worker: primary.worker() }
  }

  test('obtains leases, then answers synchronously', async () => {
    const { worker } = bench()
    let atOnce = 0
    for (let takes = 0; takes < 100; takes++) {
      const answer = worker.takeAll([charge(worker)])
      if (!(answer instanceof Promise)) atOnce++
      const [verdict] = (await answer).verdicts
      expect(verdict.allowed).toBe(true)
      expect(verdict.remaining).toBeLessThanOrEqual(999 - takes)
    }
    expect(atOnce).toBeGreaterThan(80)
  })

  test('waits for a primary that starts to listen later', async () => {
    const { clock, primary, worker } = bench()
    primary.listening = false
    const answer = worker.takeAll([charge(worker)])
    await turns(4)
    primary.listening = true
    clock.advance(20)
    expect(((await answer) as Answer).verdicts[0].allowed).toBe(true)
    expect(primary.desk.ledger.peekAll([charge(primary.desk.ledger)]).verdicts[0].remaining).toBe(999)
  })

  test('rejects with a timeout if the primary never listens', async () => {
    const { clock, primary, worker } = bench()
    primary.listening = false
    const answer = worker.takeAll([charge(worker)], { deadlineAt: clock.now() + 50 })
    const failure = expect(answer).rejects.toMatchObject({ code: 'LATE' })
    await turns(4)
    clock.advance(80)
    await failure
  })

  test('rejects at once with a lost connection if the primary is gone', async () => {
    const { primary, worker } = bench()
    const events: string[] = []
    worker.interrupted?.((event) => events.push(event))
    const answer = worker.takeAll([charge(worker)])
    const failure = expect(answer).rejects.toMatchObject({ code: 'CONNECTION' })
    primary.die()
    await failure
    await expect(worker.takeAll([charge(worker)])).rejects.toMatchObject({ code: 'CONNECTION' })
    expect(events).toEqual(['lost'])
  })

  test('does not treat messages of the application as answers, and neither does the primary', async () => {
    const { primary, worker } = bench()
    for (const message of [null, 1, 'text', [], { mark: 'other' }, { answers: [] }]) {
      primary.say(message)
      expect(primary.desk.handle(message)).toBeUndefined()
    }
    expect((await worker.takeAll([charge(worker)])).verdicts[0].allowed).toBe(true)
  })

  test('a request that reaches the primary after its deadline changes nothing', async () => {
    const { clock, primary, worker } = bench()
    await worker.takeAll([charge(worker)])
    const late = worker.takeAll([charge(worker, 5)], { deadlineAt: clock.now() + 50 })
    const failure = expect(late).rejects.toMatchObject({ code: 'LATE' })
    await turns(1)
    clock.advance(60)
    await failure
    await turns(4)
    expect(primary.desk.ledger.peekAll([charge(primary.desk.ledger)]).verdicts[0].remaining).toBe(999)
  })

  test('a worker that died is charged exactly its leased units when the lease ends', async () => {
    const { clock, primary, worker } = bench()
    for (let takes = 0; takes < 100; takes++) await worker.takeAll([charge(worker)])
    const held = 1_000 - primary.desk.ledger.peekAll([charge(primary.desk.ledger)]).verdicts[0].remaining
    expect(held).toBeGreaterThanOrEqual(100)
    primary.die()
    clock.advance(5_000)
    expect(1_000 - primary.desk.ledger.peekAll([charge(primary.desk.ledger)]).verdicts[0].remaining).toBe(held)
    clock.advance(60_000)
    expect(primary.desk.ledger.keys).toBe(0)
  })

  test('returns its leased units when it is closed', async () => {
    const { primary, worker } = bench()
    for (let takes = 0; takes < 100; takes++) await worker.takeAll([charge(worker)])
    await worker.close?.()
    expect(primary.desk.ledger.peekAll([charge(primary.desk.ledger)]).verdicts[0].remaining).toBe(900)
  })
})

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise<void>((resolve) => setImmediate(resolve))
}
