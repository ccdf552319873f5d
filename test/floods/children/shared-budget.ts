import { type AlgorithmName, createLimiter } from '@sluice/limiter-core'
import { scene } from '../scene.ts'

const [maxBytes, flooded, quiet, order] = process.argv.slice(1)
const { backend, clock } = scene([{ limit: 1, window: '1s' }], Number(maxBytes))

const limiterOf = (name: string, algorithm: string) =>
  createLimiter({
    policies: [{ name, algorithm: algorithm as AlgorithmName, limit: 10, window: '1d' }],
    backend,
    clock,
    scope: name,
  })
const flood = limiterOf('flooded', flooded)
const calm = limiterOf('quiet', quiet)
// a sliding log with limit ten has room for 16 times, the largest key: 156 bytes; all keys take a fifth of the budget
const keys = Math.floor(Number(maxBytes) / 780)

const runFlood = (): void => {
  for (let key = 0; key < Number(maxBytes) / 8; key++) flood.take(`flood-${key}`, 2)
}

if (order === 'flood first') runFlood()
for (let key = 0; key < keys; key++) calm.take(`quiet-${key}`)
runFlood()
let lost = 0
for (let key = 0; key < keys; key++) if (calm.peek(`quiet-${key}`).verdicts[0].remaining !== 9) lost++
console.log(JSON.stringify({ keys, lost }))
