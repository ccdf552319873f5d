import { type AlgorithmName, createLimiter } from '@sluice/limiter-core'
import { type SeededRandom, seededRandom } from '@sluice/testkit'
import { everyAlgorithm, scene } from '../scene.ts'

const [maxBytes, algorithm, seed, ...counts] = process.argv.slice(1)
const budget = Number(maxBytes)

/** Bytes of a slot with a limit of up to 60. */
const SLOT_BYTES: Readonly<Record<AlgorithmName, number>> = {
  'fixed-window': 28,
  'sliding-window': 44,
  'sliding-log': 524,
  'token-bucket': 28,
  gcra: 20,
}

const random = seededRandom(Number(seed))
console.log(JSON.stringify(counts.map((count) => late(Number(count), random))))

/**
 * Adds a policy when strangers fill the budget with keys of other policies that use less than half of their limit.
 * Then clients of the new policy, which fit in a third of its share, take turns.
 */
function late(count: number, random: SeededRandom): object {
  const { backend, clock } = scene([{ limit: 1, window: '1s' }], budget)
  const limits = Array.from({ length: count }, (_, index) => 20 + index)
  // a different order for each run: the late policy may have the smallest limit, the largest, or any
  limits.push(...limits.splice(0, random.whole(count)))
  const part = [0, 0.1, 0.4][random.whole(3)]
  const opened = limits.map((limit, index) => {
    const name =
      algorithm === 'any' ? everyAlgorithm[random.whole(everyAlgorithm.length)] : (algorithm as AlgorithmName)
    const policy = { limit, window: '1h', algorithm: name } as const
    return { limit, name, limiter: createLimiter({ policies: [policy], backend, clock, scope: `policy ${index}` }) }
  })
  const [last, ...others] = opened.reverse()
  for (const [index, { limit, name, limiter }] of others.entries()) {
    const units = Math.max(1, Math.floor(limit * part))
    for (let key = (1.3 * budget) / SLOT_BYTES[name]; key > 0; key--) limiter.take(`stranger-${index}-${key}`, units)
    clock.advance(1_000)
  }
  const clients = Math.ceil((0.3 * budget) / count / SLOT_BYTES[last.name])
  const passed = new Array<number>(clients).fill(0)
  for (let round = 0; round < 5 * last.limit; round++) {
    for (let client = 0; client < clients; client++) if (last.limiter.take(`client-${client}`).allowed) passed[client]++
    clock.advance(10)
  }
  return {
    count,
    algorithm: last.name,
    part,
    clients,
    limit: last.limit,
    most: passed.reduce((most, one) => Math.max(most, one), 0),
  }
}
