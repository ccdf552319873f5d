// Runs the test steps in the current Node version, and sends the counts to tools/tests/test-matrix.mjs, its parent.
import { runSteps } from '../run-steps.mjs'
import { testSteps } from './test-steps.mjs'

// the parent has exited: end like after a signal, which also ends child processes
process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))
const counts = await runSteps(testSteps(process.argv.slice(2)))
process.send(counts, () => process.exit())
