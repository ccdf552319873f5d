import { embeddedLedger, type SqlLedger } from '@sluice/counters/postgres'
import { createLimiter } from '@sluice/limiter-core'
import { createQuotas, type QuotaBalance, quota } from '@sluice/quotas'
import { FakeClock } from '@sluice/testkit'
import { quotaSuite } from '../quota-suite.ts'
import { zoneSuite } from '../zones/zone-suite.ts'
import { type Failures, suiteInFolder } from './suite-in-folder.ts'

/** Runs the suite of quotas on a ledger in a folder, and returns the error of each test that fails. */
export const suite = (folder: string): Promise<Failures> => suiteInFolder(folder, quotaSuite)

/** Runs the suite of zones, as `suite`. */
export const zones = (folder: string): Promise<Failures> => suiteInFolder(folder, zoneSuite)

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
