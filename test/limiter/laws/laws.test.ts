import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import { baseSeed, numberOfRuns, type SeededRandom, seededRandom } from '@sluice/testkit'
import { drawSetup, KEYS } from './drawn-setup.ts'
import { type Coverage, FeatureCounts } from './feature-counts.ts'
import { EXCLUDED, FEATURES } from './features.ts'
import { History } from './history.ts'
import { pass, settle } from './hold-steps.ts'
import { steps } from './steps.ts'

// Random limiters, storages, requests, changes and faults keep the laws of decisions. Each run has the features of one
// of the rarest triples so far, so that all pairs and triples of features occur together about equally often.

const RUNS = 4_000
/** Part of its runs that a run with less than all seeds has, such as `npm test`: each triple still occurs 60 times. */
const PART = 0.4
/** Part of the runs in which each triple is in effect at least. */
const LEAST_SHARE = 0.15
/** Fewer runs do not reach that share: the first ones reach each triple once. */
const FEW_RUNS = 400
/** In which processes report what they know. */
const REPORT_MS = 1_000
/** Longer than all windows, bans, turns and debts of a run. */
const IDLE_MS = 100 * 60 * 60_000
/** Longer than all runs take on a busy machine. */
const TIMEOUT_MS = 20 * 60_000
/** The features that the error of a run names: the setup of a run depends on the runs before. */
const PINNED = process.env.SLUICE_FEATURES?.split(',')

// failures of storages are part of the runs
let warned: { mockRestore(): void }
beforeAll(() => {
  warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
})
afterAll(() => warned.mockRestore())

async function runWith(seed: number, counts: FeatureCounts): Promise<void> {
  const random = seededRandom(seed)
  const rarest = counts.rarest(random)
  const wanted = PINNED ?? rarest
  try {
    counts.add(await playHistory(random, wanted))
  } catch (error) {
    const shown = error instanceof Error ? error.stack : error
    throw new Error(`SLUICE_SEED=${seed} SLUICE_RUNS=1e-9 SLUICE_FEATURES='${wanted}': ${shown}`, { cause: error })
  }
}

/** Plays a history with the `wanted` features. Returns all features that were in effect. */
async function playHistory(random: SeededRandom, wanted: readonly string[]): Promise<ReadonlySet<string>> {
  const setup = drawSetup(random, new Set(wanted))
  const history = new History(random, setup)
  try {
    for (const step of setup.steps) await steps[step](history)
    await endHistory(history)
    return history.features
  } finally {
    await history.close()
  }
}

/** Ends what runs, and checks that nothing remains of it. */
async function endHistory(history: History): Promise<void> {
  for (const open of [...history.holds]) await settle(history, 0, open)
  history.release()
  for (let report = 0; report < 5; report++) await pass(history, REPORT_MS)
  await pass(history, IDLE_MS)
  for (const plan of history.plans.keys()) {
    for (const key of KEYS) {
      // the first call lets processes notice what has expired
      await history.view(key, plan)
      await history.settled()
      for (const [name, seen] of await history.view(key, plan)) {
        const isUnused = seen.remaining === seen.capacity && !seen.isBanned && seen.resetAfterMs === 0
        history.check('an idle key is unused', isUnused, name, key, seen)
      }
    }
  }
}

function shown(kind: string, { combinations, least, rarest }: Coverage): string {
  return `each of ${combinations} ${kind} in at least ${least} (${rarest.join(', ')})`
}

test(
  'random limiters keep the laws of decisions',
  async () => {
    const counts = new FeatureCounts(FEATURES, EXCLUDED)
    const first = baseSeed()
    const runs = numberOfRuns(numberOfRuns(RUNS) < RUNS ? RUNS * PART : RUNS)
    for (let seed = first; seed < first + runs; seed++) await runWith(seed, counts)
    const { pairs, triples } = counts
    console.info(`${runs} runs: ${shown('pairs of features', pairs)}, ${shown('triples', triples)}`)
    if (runs >= FEW_RUNS) expect(triples.least).toBeGreaterThanOrEqual(Math.floor(runs * LEAST_SHARE))
  },
  TIMEOUT_MS,
)
