// A check for everyday work, in about a minute: build (which is stricter about declarations than the root), types, lint,
// prose, unused code, and the tests that are nearest to what differs from main (or from the branch that is given).
// `npm test` is complete.
import { checkSteps, command } from './check-steps.mjs'
import { reportOutcome, runSteps } from './run-steps.mjs'
import { recordedSeconds } from './tests/duration-sequencer.mjs'
import { runJest } from './tests/jest-run.mjs'
import { changedFiles, relatedTests } from './tests/related-tests.mjs'

const minute = 60_000
/** Seconds that the chosen test files took together, in the last recorded run and with four workers. */
const TEST_SECONDS = 45
const SLOWEST_SECONDS = 5

const base = process.argv[2] ?? 'main'
const changed = changedFiles(base)
const related = relatedTests(changed).filter((path) => !path.startsWith('test/faults/'))
const chosen = []
let left = TEST_SECONDS
for (const path of related) {
  const took = recordedSeconds[path] ?? 1
  if (!changed.includes(path) && (took > SLOWEST_SECONDS || took > left)) continue
  left -= took
  chosen.push(path)
}

const steps = [{ name: 'build', run: command('build', ['--output-logs=errors-only']) }, checkSteps]
if (chosen.length > 0) {
  const name = `${chosen.length} of ${related.length} test files that use what differs from ${base}`
  steps.push({ name, run: () => runJest(['--runTestsByPath', ...chosen], 5 * minute) })
}
reportOutcome(await runSteps(steps))
