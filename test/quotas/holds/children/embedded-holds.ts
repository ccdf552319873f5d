import { embeddedLedger } from '@sluice/counters/postgres'
import { expect } from 'expect'
import { HoldFleet, NOVEMBER } from '../hold-fleet.ts'
import { type HoldRunner, holdSuite } from '../hold-suite.ts'

// PGlite is an ES module that jest cannot load, so the code that uses it runs in a separate process

/** Runs the suite of holds on a ledger in a folder, and returns the error of each test that fails. */
export async function suite(
  folder: string,
): Promise<readonly (readonly [name: string, failure: string | undefined])[]> {
  const ledger = await embeddedLedger({ folder })
  const tests: (readonly [string, () => Promise<void>])[] = []
  const runner = {
    describe: (_name: string, define: () => void) => define(),
    test: (name: string, run: () => Promise<void>) => void tests.push([name, run]),
    expect,
  } as unknown as HoldRunner
  let scopes = 0
  holdSuite(runner, async () => ({ ledger, scope: `scope-${++scopes}` }))
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

/** Spends 10 units and holds all other units of a quota of 100 in a folder, at a time, and never settles them. */
export async function hold(folder: string, now: number): Promise<number> {
  const fleet = new HoldFleet(await embeddedLedger({ folder }), 'killed', NOVEMBER + now)
  const limiter = fleet.limiter(fleet.join())
  await limiter.take('a', 10)
  let held = 0
  while ((await limiter.hold('a', { reserve: 15 })).allowed) held += 15
  return held
}

/** Opens the folder, and returns the free units at each of the times. */
export async function free(folder: string, times: readonly number[]): Promise<readonly number[]> {
  const ledger = await embeddedLedger({ folder })
  const all: number[] = []
  for (const now of times) {
    const fleet = new HoldFleet(ledger, 'killed', NOVEMBER + now)
    const limiter = fleet.limiter(fleet.join())
    all.push((await limiter.peek('a')).binding.remaining)
    await fleet.close()
  }
  await ledger.close()
  return all
}
