import type { InflightLimiter, Permit, Priority } from '@sluice/limiter-core'
import type { FakeClock } from '../fake-clock.ts'
import type { SeededRandom } from '../seeded-random.ts'
import { WorkerModel } from './worker-model.ts'

/** Clients that send requests whether or not earlier ones have been answered. */
export interface LoadSource {
  /** Requests per second at a time of the run, above 0; arrivals are a Poisson process. */
  readonly rate: (atMs: number) => number
  readonly priority?: Priority | undefined
  readonly client?: string | (() => string) | undefined
  readonly key?: string | undefined
  readonly weight?: number | undefined
}

export interface OverloadRunOptions {
  readonly clock: FakeClock
  readonly random: SeededRandom
  readonly cap: InflightLimiter
  readonly workers: number
  /** Milliseconds that a worker needs for a request that arrives at a time of the run. */
  readonly serviceMs: (atMs: number, random: SeededRandom) => number
  readonly sources: readonly LoadSource[]
  readonly durationMs: number
}

/** What happened to the requests of one source. */
export interface SourceResult {
  arrived: number
  admitted: number
  completed: number
  refused: number
  /** Milliseconds from arrival to completion of each completed request. */
  readonly latencies: number[]
}

export interface OverloadResult {
  readonly sources: readonly SourceResult[]
  /** Completed requests of each second of the run. */
  readonly completedPerSecond: readonly number[]
  /** Limit of the whole process at the end of each second. */
  readonly limits: readonly number[]
}

/** Applies an open-loop load to a cap in front of a server, on virtual time. */
export async function runOverload(options: OverloadRunOptions): Promise<OverloadResult> {
  const { clock, random, cap, workers, serviceMs, durationMs } = options
  const server = new WorkerModel(workers, clock)
  const startMs = clock.now()
  const completedPerSecond: number[] = []
  const limits: number[] = []
  let second = 0
  let isOver = false
  let pending = 0

  const begin = (permit: Permit | undefined, atMs: number, result: SourceResult): void => {
    if (!permit) {
      result.refused++
      return
    }
    result.admitted++
    server.serve(serviceMs(atMs, random), () => {
      permit.release()
      result.completed++
      result.latencies.push(clock.now() - startMs - atMs)
      second++
    })
  }
  const sources = options.sources.map((source): SourceResult => {
    const result: SourceResult = { arrived: 0, admitted: 0, completed: 0, refused: 0, latencies: [] }
    const { key, priority, client, weight } = source
    const next = (): void => {
      const gapMs = (-Math.log(1 - random.next()) * 1_000) / source.rate(clock.now() - startMs)
      clock.after(gapMs, arrive)
    }
    const arrive = (): void => {
      if (isOver) return
      next()
      result.arrived++
      const atMs = clock.now() - startMs
      const named = typeof client === 'function' ? client() : client
      const permit = cap.acquire(key, { priority, client: named, weight })
      if (!(permit instanceof Promise)) {
        begin(permit as Permit | undefined, atMs, result)
        return
      }
      pending++
      permit.then((given) => {
        pending--
        begin(given, atMs, result)
      })
    }
    next()
    return result
  })
  for (let ms = 0; ms < durationMs; ms++) {
    clock.advance(1)
    if (pending > 0) await undefined
    if ((ms + 1) % 1_000 > 0) continue
    completedPerSecond.push(second)
    limits.push(cap.limit)
    second = 0
  }
  isOver = true
  return { sources, completedPerSecond, limits }
}

/** Returns a quantile of numbers, 0 for none. */
export function quantileOf(numbers: readonly number[], share: number): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}
