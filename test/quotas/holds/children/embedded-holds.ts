import { embeddedLedger } from '@sluice/counters/postgres'
import { type Failures, suiteInFolder } from '../../children/suite-in-folder.ts'
import { HoldFleet, NOVEMBER } from '../hold-fleet.ts'
import { holdSuite } from '../hold-suite.ts'

/** Runs the suite of holds on a ledger in a folder, and returns the error of each test that fails. */
export const suite = (folder: string): Promise<Failures> => suiteInFolder(folder, holdSuite)

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
