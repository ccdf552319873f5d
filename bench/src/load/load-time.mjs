// Measures how long `require` of a package takes beside that of another, in fresh processes in turns:
// `npm run load-time -w @sluice/bench`, with `-- <rounds>` (15). The packages must have been built.
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const contenders = ['@sluice/express', 'express-rate-limit']
const cwd = fileURLToPath(new URL('../..', import.meta.url))
const rounds = Number(process.argv[2] ?? 15)
/** Loads a package, creates a limiter, and prints what both took. */
const script = `
  const [name] = process.argv.slice(1)
  const builtIns = process.moduleLoadList.length
  const startedAt = performance.now()
  const { rateLimit } = require(name)
  const loadedAt = performance.now()
  const modules = Object.keys(require.cache)
  const loaded = process.moduleLoadList.slice(builtIns).filter((one) => one.startsWith('NativeModule '))
  rateLimit({ limit: 10, [name === 'express-rate-limit' ? 'windowMs' : 'window']: 60_000 })
  const times = { loadMs: loadedAt - startedAt, limiterMs: performance.now() - startedAt }
  console.log(JSON.stringify({ ...times, modules, builtIns: loaded.map((one) => one.split(' ')[1]) }))`

const runs = Object.fromEntries(contenders.map((name) => [name, []]))
for (let round = 0; round < rounds; round++) for (const name of contenders) runs[name].push(loadOnce(name))

const results = contenders.map((name) => ({
  name,
  loadMs: median(runs[name].map(({ loadMs }) => loadMs)),
  limiterMs: median(runs[name].map(({ limiterMs }) => limiterMs)),
  modules: runs[name][0].modules,
  builtIns: runs[name][0].builtIns,
}))
const [own, other] = results
const ratio = own.loadMs / other.loadMs
if (process.argv.includes('--json')) console.log(JSON.stringify({ ratio, results }))
else {
  for (const { name, loadMs, limiterMs, modules } of results) {
    const times = `${loadMs.toFixed(1)} ms, ${limiterMs.toFixed(1)} ms with a first limiter`
    console.log(`${name}: ${times}, ${modules.length} modules`)
  }
  console.log(`ratio: ${ratio.toFixed(2)}, ${(own.limiterMs / other.limiterMs).toFixed(2)} with a first limiter`)
}

function loadOnce(name) {
  return JSON.parse(execFileSync(process.execPath, ['-e', script, name], { cwd, encoding: 'utf8' }))
}

function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]
}
