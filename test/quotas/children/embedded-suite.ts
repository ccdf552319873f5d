import { embeddedLedger, type SqlLedger } from '@sluice/counters/postgres'
import { createLimiter } from '@sluice/limiter-core'
import { createQuotas, type QuotaBalance, quota } from '@sluice/quotas'
import { FakeClock } from '@sluice/testkit'
import { expect } from 'expect'
import { type QuotaRunner, quotaSuite } from '../quota-suite.ts'

// PGlite is an ES module that jest cannot load, so the code that uses it runs in a separate process

/** Runs the suite of quotas on a ledger in a folder, and returns the error of each test that fails. */
export async function suite(
  folder: string,
): Promise<readonly (readonly [name: string, failure: string | undefined])[]> {
  const ledger = await embeddedLedger({ folder })
  const tests: (readonly [string, () => Promise<void>])[] = []
  const runner = {
    describe: (_name: string, define: () => void) => define(),
    test: (name: string, run: () => Promise<void>) => void tests.push([name, run]),
    expect,
  } as unknown as QuotaRunner
  let scopes = 0
  quotaSuite(runner, async () => ({ ledger, scope: `scope-${++scopes}` }))
  const results: (readonly [string, string | undefined])[] = []
  for (const [name, run] of tests) {
    const failure = await run().then(
      () => undefined,
      (error: unknown) => String((error as Error).stack),
    )
    results.push([name, failure])
  }
  await ledger.close()
  return results
}

/** Takes units in a folder without returning the lease, opens the folder again, and returns the balance. */
export async function balanceAfterCrash(folder: string, limit: number, takes: number): Promise<QuotaBalance> {
  const open = (ledger: SqlLedger) => {
    // a clock that stands still, so that the lease is never reported
    const clock = new FakeClock()
    const quotas = createQuotas(ledger, { clock, leaseMs: '1m' })
    const policies = [quota({ name: 'calls', limit, per: 'day', backend: quotas })]
    return { quotas, limiter: createLimiter({ policies, scope: 'crash', clock, deadlineMs: 60_000 }) }
  }
  const before = await embeddedLedger({ folder })
  const { limiter } = open(before)
  for (let taken = 0; taken < takes; taken++) await limiter.take('acme')
  await before.close()
  const after = await embeddedLedger({ folder })
  const balance = await open(after).quotas.balance('acme', { policy: 'calls', scope: 'crash' })
  await after.close()
  return balance
}
