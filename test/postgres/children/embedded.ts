import { PGlite } from '@electric-sql/pglite'
import type { Backend, Clock } from '@sluice/limiter-core'
import { postgresBackend } from '@sluice/postgres'
import { backendContract, type TestRunner } from '@sluice/testkit'

// PGlite is an ES module that jest cannot load, so the code that uses it runs in a separate process

/** Runs the contract on PGlite, and returns the error of each claim that fails. */
export async function contract(
  folder: string,
): Promise<readonly (readonly [claim: string, failure: string | undefined])[]> {
  const database = await PGlite.create(folder)
  await postgresBackend(database).migrate()
  const claims: (readonly [string, () => void | Promise<void>])[] = []
  const runner: TestRunner = {
    describe: (_name, define) => define(),
    test: (name, run) => claims.push([name, run]),
  }
  const makeBackend = async (clock: Clock): Promise<Backend> => {
    await database.query('truncate sluice.limits')
    return postgresBackend(database, { serverTime: () => clock.now(), clock })
  }
  backendContract(runner, makeBackend, { keepsHolds: true })
  const results: (readonly [string, string | undefined])[] = []
  for (const [name, run] of claims) {
    try {
      await run()
      results.push([name, undefined])
    } catch (error) {
      results.push([name, String((error as Error).stack)])
    }
  }
  await database.close()
  return results
}
