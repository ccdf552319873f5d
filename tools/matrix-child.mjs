// The test steps in the Node that runs this file; hands the counts to tools/test-matrix.mjs, which started it.
import { runSteps } from './run-steps.mjs'
import { testSteps } from './test-steps.mjs'

// who started us is gone: end as a signal ends us, which takes along what runs below
process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))
const counts = await runSteps(testSteps(process.argv.slice(2)))
process.send(counts, () => process.exit())
