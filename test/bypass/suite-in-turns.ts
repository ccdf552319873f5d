import { numberOfRuns, type TestRunner } from '@sluice/testkit'

/** Tests of `bypassContract` that change a part of the request again and again: most requests of the suite are theirs. */
const CHANGES = / that changes \d+ times/

/**
 * Returns the functions for one of several suites of similar applications. In a run with a part of the seeds, that part
 * of the suites, at least one, changes parts of the request again and again; the others omit these tests.
 */
export function inTurns(runner: TestRunner, suite: number, suites: number): TestRunner {
  if (suite % suites < numberOfRuns(suites)) return runner
  const test: TestRunner['test'] = (name, run) => {
    if (!CHANGES.test(name)) runner.test(name, run)
  }
  return { describe: runner.describe, test }
}
