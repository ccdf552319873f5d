// Runs the test steps in the current Node version, and sends the counts to tools/tests/test-matrix.mjs, its parent.
import { runSteps } from '../run-steps.mjs'
import { services, testSteps } from './test-steps.mjs'

// the parent has exited: end like after a signal, which also ends child processes
process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))
const counts = await runSteps([services, ...testSteps(process.argv.slice(2))])
process.send(counts, () => process.exit())
