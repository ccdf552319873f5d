import type { AlgorithmName } from '@sluice/limiter-core'
import { Hours } from '../hours.ts'

const [algorithm, maxBytes, before, cost, after, oneIn = '100'] = process.argv.slice(1)
const hours = new Hours(algorithm as AlgorithmName, Number(maxBytes), Number(oneIn))
const seen = []
for (let hour = 0; hour < Number(before); hour++) seen.push(hours.next())
hours.flood(Number(cost))
for (let hour = 0; hour < Number(after); hour++) seen.push(hours.next())
console.log(JSON.stringify(seen))
