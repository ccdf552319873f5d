import { embeddedLedger, type SqlLedger } from '@sluice/counters/postgres'
import { expect } from 'expect'
import type { QuotaRunner } from '../quota-suite.ts'

// PGlite is an ES module that jest cannot load, so the code that uses it runs in a separate process

/** Opens a ledger with a scope of its own for each call. */
type OpenLedger = () => Promise<{ readonly ledger: SqlLedger; readonly scope: string }>

export type Failures = readonly (readonly [name: string, failure: string | undefined])[]

/** Runs a suite on a ledger in a folder, and returns its tests, each with its error if it fails. */
export async function suiteInFolder(
  folder: string,
  suite: (runner: QuotaRunner, open: OpenLedger) => void,
): Promise<Failures> {
  const ledger = await embeddedLedger({ folder })
  const tests: (readonly [string, () => Promise<void>])[] = []
  const runner = {
    describe: (_name: string, define: () => void) => define(),
    test: (name: string, run: () => Promise<void>) => void tests.push([name, run]),
    expect,
  } as unknown as QuotaRunner
  let scopes = 0
  suite(runner, async () => ({ ledger, scope: `scope-${++scopes}` }))
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
