import { runJest } from './jest-run.mjs'
import { runNest } from './nest-run.mjs'
import { prepareServices } from './services-run.mjs'

const minute = 60_000

/**
 * The steps that run tests, in the Node of the process that asks. `npm test` runs them after its checks, and
 * `npm run test:matrix` runs them in every Node that is supported, with `jestArgs` where a part is enough.
 */
export function testSteps(jestArgs = []) {
  const jest = jestArgs.length > 0 ? [{ name: 'jest', run: () => runJest(jestArgs, 20 * minute) }] : wholeJest
  return [
    { name: 'services', run: () => prepareServices(10 * minute) },
    ...jest,
    { name: 'Nest', run: () => runNest(5 * minute) },
  ]
}

// a worker keeps something of every file that it ran, up to the end of its heap, and there are hundreds of files
const SHARDS = 4
// rows of the fault laboratory measure time, and mostly wait; a run of every bench takes one core for a minute
const APART = ['test/faults/', 'test/bench.test.ts']

const wholeJest = [
  ...Array.from({ length: SHARDS }, (_, index) => ({
    name: `jest ${index + 1} of ${SHARDS}`,
    run: () => runJest(['--testPathIgnorePatterns', ...APART, `--shard=${index + 1}/${SHARDS}`], 20 * minute),
  })),
  { name: 'faults and benches', run: () => runJest(['--maxWorkers=2', '--testPathPatterns', ...APART], 10 * minute) },
]
