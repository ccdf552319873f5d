import type { Priority } from '@sluice/limiter-core'
import type { SeededRandom } from '../seeded-random.ts'
import type { EventLoopModel } from './event-loop-model.ts'

/** Clients that send requests of one priority whether or not earlier ones have been answered. */
export interface LoopSource {
  readonly priority: Priority
  /** Requests per second at a time of the run; arrivals are a Poisson process. */
  readonly rate: (atMs: number) => number
}

export interface EventLoopRunOptions {
  readonly model: EventLoopModel
  readonly random: SeededRandom
  readonly sources: readonly LoopSource[]
  readonly durationMs: number
  /** Milliseconds of CPU of an admitted request. */
  readonly workMs: (random: SeededRandom) => number
  /** Milliseconds of CPU of a refused request. */
  readonly refusalMs: number
  /** Milliseconds that an admitted request waits, for a database for example, before its work. Default: 0. */
  readonly waitMs?: ((random: SeededRandom) => number) | undefined
  admits(priority: Priority): boolean
}

/** A request of a run. Times are milliseconds since its start. */
export interface LoopRequest {
  readonly priority: Priority
  readonly atMs: number
  /** Undefined until the request is decided about. */
  isAdmitted: boolean | undefined
  /** Undefined until its response is sent. */
  endMs: number | undefined
}

/** Applies an open-loop load to a process with one thread, on virtual time. Returns all requests. */
export function runEventLoop(options: EventLoopRunOptions): LoopRequest[] {
  const { model, random, sources, durationMs, workMs, refusalMs, waitMs } = options
  const startMs = model.now()
  const requests = sources.flatMap((source) => arrivalsOf(source, durationMs, random))
  for (const request of requests) {
    const end = (ms: number): void => {
      model.work(ms)
      request.endMs = model.now() - startMs
    }
    model.on(startMs + request.atMs, () => {
      request.isAdmitted = options.admits(request.priority)
      if (!request.isAdmitted) end(refusalMs)
      else if (waitMs) model.on(model.now() + waitMs(random), () => end(workMs(random)))
      else end(workMs(random))
    })
  }
  model.run(startMs + durationMs)
  return requests
}

function arrivalsOf({ priority, rate }: LoopSource, durationMs: number, random: SeededRandom): LoopRequest[] {
  const arrivals: LoopRequest[] = []
  for (let atMs = 0; ; ) {
    const perSecond = rate(atMs)
    // a source that pauses looks again each millisecond
    atMs += perSecond > 0 ? (-Math.log(1 - random.next()) * 1_000) / perSecond : 1
    if (atMs >= durationMs) return arrivals
    if (perSecond > 0) arrivals.push({ priority, atMs, isAdmitted: undefined, endMs: undefined })
  }
}
