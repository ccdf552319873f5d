import { createLimiter, memoryBackend } from '@sluice/limiter-core'
import { algorithms } from '@sluice/limiter-core/backend'

const ROUNDS = 20_000

function medianUs(run: (round: number) => void): number {
  const times = new Float64Array(ROUNDS)
  for (let round = 0; round < ROUNDS; round++) {
    const startedAt = process.hrtime.bigint()
    run(round)
    times[round] = Number(process.hrtime.bigint() - startedAt) / 1_000
  }
  return times.sort()[ROUNDS / 2]
}

function timesOf(algorithm: keyof typeof algorithms): Record<string, number> {
  const policies = [{ algorithm, limit: 128, window: '1h' }] as const
  const limiter = createLimiter({ policies, backend: memoryBackend() })
  limiter.take('denied', 128)
  for (let key = 0; key < ROUNDS; key++) limiter.take(`warm-${key}`)
  return {
    allowed: medianUs((round) => limiter.take(`warm-${round}`)),
    denied: medianUs(() => limiter.take('denied')),
    unknown: medianUs((round) => limiter.take(`unknown-${round}`)),
  }
}

const names = Object.keys(algorithms) as (keyof typeof algorithms)[]
console.log(JSON.stringify(Object.fromEntries(names.map((name) => [name, timesOf(name)]))))
