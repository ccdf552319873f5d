// The whole check: every step runs even if an earlier one failed; the last lines list failures and counts.
import { checkSteps, command } from '../check-steps.mjs'
import { commentShares } from '../comment-share.mjs'
import { root } from '../root-command.mjs'
import { reportOutcome, runSteps, together } from '../run-steps.mjs'
import { runJest } from './jest-run.mjs'
import { services, testSteps } from './test-steps.mjs'

const minute = 60_000
const long = process.argv.includes('--long')

// the long run, and jest alone, use all seeds
process.env.SLUICE_RUNS ??= long ? '1' : '0.25'

// the checks read no built file, and an installation mostly waits
const build = { name: 'build', run: command('build', ['--output-logs=errors-only']) }
const steps = [together([build, checkSteps, services]), ...testSteps()]
if (long) {
  // a run without long files is valid: jest prints a message if it finds none
  const longOnly = ['--testMatch', '<rootDir>/test/**/*.long.ts', '--passWithNoTests']
  steps.push({ name: 'jest, long tests', run: () => runJest(longOnly, 120 * minute) })
}

const outcome = await runSteps(steps)

console.log('\n== comment lines (information only)')
for (const line of commentShares(root)) console.log(line)

reportOutcome(outcome)
