import { embeddedLedger } from '@sluice/counters/postgres'
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
