import { type ScriptRunner, warn } from '@sluice/limiter-core/backend'
import { failureOf } from '../client/redis-failure.ts'

/**
 * Wraps a user's `ScriptRunner`. A runner without `clustered: true` is treated as a single server until a cluster
 * rejects one of its calls with `CROSSSLOT`. From then on it is treated as clustered: each call contains the keys of
 * one slot.
 */
export function customRunner(runner: ScriptRunner): ScriptRunner {
  let clustered = runner.clustered === true
  const refused = (error: unknown): never => {
    if (!clustered && failureOf(error).code === CROSSSLOT) {
      clustered = true
      warn(
        'SLUICE_CLUSTER_RUNNER',
        'a Redis Cluster refused a call with keys of several slots; calls are now split by slot: ' +
          'set clustered: true on the ScriptRunner',
      )
    }
    throw error
  }
  return {
    get clustered() {
      return clustered
    },
    perTask: runner.perTask === true,
    run: (...call) => (clustered ? called(runner, call) : called(runner, call).catch(refused)),
    ...(runner.sendCommands && { sendCommands: (commands) => runner.sendCommands?.(commands) }),
    ...(runner.serverOf && { serverOf: (key) => runner.serverOf?.(key) ?? '' }),
    ...(runner.interrupted && { interrupted: (listener) => runner.interrupted?.(listener) ?? (() => {}) }),
  }
}

/** Runs a call and returns a native promise, even if the runner throws or returns another kind of value. */
function called(runner: ScriptRunner, call: Parameters<ScriptRunner['run']>): Promise<unknown> {
  try {
    return Promise.resolve(runner.run(...call))
  } catch (error) {
    return Promise.reject(error)
  }
}

/** Error code of a cluster for a call with keys of several slots. The call was not executed. */
export const CROSSSLOT = 'CROSSSLOT'
