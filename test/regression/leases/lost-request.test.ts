import { expect, test } from '@jest/globals'
import { type LeaseGrant, type LeaseLedger, LeasingBackend, MemoryLedger } from '@sluice/fleet/leases'
import { memoryBackend } from '@sluice/limiter-core'
import { algorithms } from '@sluice/limiter-core/backend'
import { FakeClock } from '@sluice/testkit'

const TERMS = { fraction: 0.1, leaseMs: 2_000 }
const compiled = algorithms['fixed-window'].compile({
  name: 'api',
  algorithm: 'fixed-window',
  limit: 100,
  windowMs: 3_600_000,
})

test('a key whose request was never answered by the ledger is requested again, and a late answer grants nothing', async () => {
  const clock = new FakeClock({ nowMs: 1_000 })
  const memory = new MemoryLedger('ledger', memoryBackend({ clock }), TERMS, () => clock.now())
  let answerFirst = (): void => {}
  let asked = 0
  const ledger: LeaseLedger = {
    request(asks) {
      const grants = memory.request(asks)
      if (asked++ > 0) return grants
      return new Promise<readonly LeaseGrant[]>((resolve) => {
        answerFirst = () => resolve(grants)
      })
    },
  }
  const backend = new LeasingBackend({ name: 'leased', exact: memory, ledger, terms: TERMS, clock })
  const counter = backend.open(compiled, 'count')
  const take = (cost: number) => Promise.resolve(counter.take('a', cost, { deadlineAt: clock.now() + 50 }))
  const first = take(5)
  const failed = expect(first).rejects.toMatchObject({ code: 'LATE' })
  for (let second = 0; second < 12; second++) {
    clock.advance(1_000)
    await Promise.resolve()
  }
  await failed
  expect(await take(1)).toMatchObject({ allowed: true, source: 'leased' })
  answerFirst()
  await Promise.resolve()
  expect((await take(99)).allowed).toBe(true)
  expect((await take(1)).allowed).toBe(false)
  await backend.close()
  expect(memory.peekAll([{ key: 'a', counter: memory.open(compiled, 'count'), cost: 1 }]).verdicts[0].remaining).toBe(0)
})
