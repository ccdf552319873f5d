import { expect, test } from '@jest/globals'
import { root } from '../repository.ts'
import { mustRun } from './command.ts'

interface Loaded {
  /** Absolute paths. */
  readonly modules: readonly string[]
  /** Modules of Node.js. */
  readonly builtIns: readonly string[]
}

const ROUNDS = 7
/** On an idle machine the ratio is 1.4: `npm run load-time -w @sluice/bench`. */
const MOST = 2
const MOST_MODULES = 25

test('@sluice/express loads at most twice as long as express-rate-limit, and only what a rate limit needs', async () => {
  const script = ['bench/src/load/load-time.mjs', String(ROUNDS), '--json']
  const output = JSON.parse(await mustRun(process.execPath, script, root))
  const [{ modules, builtIns }]: readonly [Loaded, ...Loaded[]] = output.results
  process.stdout.write(`@sluice/express loads ${output.ratio.toFixed(2)} times as long, ${modules.length} modules\n`)
  expect(output.ratio).toBeLessThan(MOST)
  expect(modules.length).toBeGreaterThan(5)
  expect(modules.length).toBeLessThanOrEqual(MOST_MODULES)
  expect(modules.filter((path) => /packages\/overload\/|node_modules\/express\//.test(path))).toEqual([])
  expect(builtIns.filter((name) => /^_?(https?|http2|tls|net|crypto|stream|worker_threads)$/.test(name))).toEqual([])
})
