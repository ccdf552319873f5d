import { embeddedLedger } from '@sluice/counters/postgres'
import { expect } from 'expect'
import { type RecordRunner, recordSuite } from '../record-suite.ts'

// PGlite is an ES module that jest cannot load, so the code that uses it runs in a separate process

/** Runs the suite on a ledger in a folder, stores a record that remains, and returns the errors of failed tests. */
export async function suite(folder: string): Promise<readonly string[]> {
  const ledger = await embeddedLedger({ folder })
  const tests: (() => Promise<void>)[] = []
  const runner = { test: (_name: string, run: () => Promise<void>) => void tests.push(run), expect }
  recordSuite(runner as unknown as RecordRunner, (name) => ledger.openRecords(name))
  const failures: string[] = []
  for (const run of tests) await run().catch((error: unknown) => failures.push(String((error as Error).stack)))
  await ledger.openRecords('kept').put('id', 'kept', Date.now() + 60_000)
  await ledger.close()
  return failures
}

export async function stored(folder: string): Promise<readonly string[]> {
  const ledger = await embeddedLedger({ folder })
  const texts = await ledger.openRecords('kept').all()
  await ledger.close()
  return texts
}
