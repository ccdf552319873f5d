import { type ScriptRunner, warn } from '@sluice/limiter-core/backend'
import { failureOf } from './redis-failure.ts'

/**
 * Wraps a custom runner. If it does not state whether it is clustered, it is treated as a single server until a
 * cluster refuses a call; from then on each call has keys of one slot.
 */
export function givenRunner(runner: ScriptRunner): ScriptRunner {
  let clustered = runner.clustered === true
  const refused = (error: unknown): never => {
    if (!clustered && failureOf(error).code === CROSSSLOT) {
      clustered = true
      warn(
        'SLUICE_CLUSTER_RUNNER',
        'a Redis Cluster refused a call with keys of several slots; calls are now split by slot: set clustered: true on the ScriptRunner',
      )
    }
    throw error
  }
  return {
    get clustered() {
      return clustered
    },
    run: (...call) => (clustered ? called(runner, call) : called(runner, call).catch(refused)),
    ...(runner.serverOf && { serverOf: (key) => runner.serverOf?.(key) ?? '' }),
    ...(runner.interrupted && { interrupted: (listener) => runner.interrupted?.(listener) ?? (() => {}) }),
  }
}

/** Returns a promise whatever the runner returns or throws. */
function called(runner: ScriptRunner, call: Parameters<ScriptRunner['run']>): Promise<unknown> {
  try {
    return Promise.resolve(runner.run(...call))
  } catch (error) {
    return Promise.reject(error)
  }
}

/** Reply of a cluster to keys of several slots; nothing was done. */
export const CROSSSLOT = 'CROSSSLOT'
