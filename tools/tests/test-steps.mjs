import { together } from '../run-steps.mjs'
import { runJest } from './jest-run.mjs'
import { runNest } from './nest-run.mjs'
import { prepareServices } from './services-run.mjs'

const minute = 60_000

/** Installs what the tests need and a machine lacks. */
export const services = { name: 'services', run: () => prepareServices(10 * minute) }

/**
 * The steps that run tests, in the Node version of the calling process. `npm test` runs them after its checks, and
 * `npm run test:matrix` runs them in every supported Node version, with `jestArgs` to select a part.
 */
export function testSteps(jestArgs = []) {
  const some = [{ name: 'jest', run: () => runJest(jestArgs, 20 * minute) }, nest]
  return jestArgs.length > 0 ? some : whole
}

const nest = { name: 'Nest', run: () => runNest(5 * minute) }

// a worker retains some memory of every file it runs, and hundreds of files would exhaust its heap
const SHARDS = 2
// fault tests measure time, so that nothing else runs beside them; they mostly wait
const APART = 'test/faults/'

const shards = Array.from({ length: SHARDS }, (_, index) => ({
  name: `jest ${index + 1} of ${SHARDS}`,
  run: () => runJest(['--testPathIgnorePatterns', APART, `--shard=${index + 1}/${SHARDS}`], 30 * minute),
}))

const whole = [
  ...shards.slice(0, -1),
  // the last files of a shard leave cores idle
  together([...shards.slice(-1), nest]),
  { name: 'faults', run: () => runJest(['--testPathPatterns', APART], 10 * minute) },
]
