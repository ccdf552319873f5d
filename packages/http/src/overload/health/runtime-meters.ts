import { SluiceError } from '@sluice/limiter-core/http'

/** Milliseconds that an event loop was idle and active. */
export interface LoopTimes {
  readonly idle: number
  readonly active: number
}

/** What a runtime shows of the process. Missing methods are not available in the runtime. */
export interface RuntimeMeters {
  loopTimes?(): LoopTimes
  heapUsed?(): number
  rss?(): number
}

interface Runtime {
  readonly performance?: { eventLoopUtilization?(): LoopTimes }
  readonly process?: { readonly memoryUsage?: (() => { readonly heapUsed: number }) & { rss?(): number } }
}

/** Returns the meters of this runtime. In Workers and browsers there are none. */
export function runtimeMeters(runtime: object = globalThis): RuntimeMeters {
  const { performance, process } = runtime as Runtime
  const memory = process?.memoryUsage
  const { rss } = memory ?? {}
  return {
    ...(typeof performance?.eventLoopUtilization === 'function' && {
      loopTimes: () => (performance.eventLoopUtilization as () => LoopTimes)(),
    }),
    ...(typeof memory === 'function' && { heapUsed: () => memory.call(process).heapUsed }),
    ...(typeof rss === 'function' && { rss: () => rss.call(memory) }),
  }
}

/** Returns a meter. Throws `SLUICE_BAD_OPTION` if the runtime does not have it. */
export function meterOf<Name extends keyof RuntimeMeters>(
  meters: RuntimeMeters,
  name: Name,
  option: string,
): NonNullable<RuntimeMeters[Name]> {
  const meter = meters[name]
  if (meter) return meter
  const message = `${option}: expected a runtime that measures it, such as Node.js, received one that does not`
  throw new SluiceError('SLUICE_BAD_OPTION', message)
}

/**
 * Returns a function that returns the part of the time since its last call, from 0 to 1, in which the event loop
 * worked; undefined if no time has passed, or if the runtime does not measure it.
 */
export function utilizationSince(loopTimes: () => LoopTimes): () => number | undefined {
  let last = loopTimes()
  return () => {
    const { idle, active } = loopTimes()
    const [idleMs, activeMs] = [idle - last.idle, active - last.active]
    last = { idle, active }
    return idleMs + activeMs > 0 ? activeMs / (idleMs + activeMs) : undefined
  }
}
