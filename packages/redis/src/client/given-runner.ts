import { type ScriptRunner, warn } from '@sluice/limiter-core/backend'
import { failureOf } from './redis-failure.ts'

/**
 * A runner that somebody else made. One that does not say whether its keys must share a slot is taken to be of a single
 * server until a cluster refuses a call of it: from then on each call has the keys of one slot.
 */
export function givenRunner(runner: ScriptRunner): ScriptRunner {
  let clustered = runner.clustered === true
  const refused = (error: unknown): never => {
    if (!clustered && failureOf(error).code === CROSSSLOT) {
      clustered = true
      warn(
        'SLUICE_CLUSTER_RUNNER',
        'a ScriptRunner is of a cluster, which refused a call with keys of several slots: expected clustered: true',
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

/** A promise of ours, whatever the runner answers or throws. */
function called(runner: ScriptRunner, call: Parameters<ScriptRunner['run']>): Promise<unknown> {
  try {
    return Promise.resolve(runner.run(...call))
  } catch (error) {
    return Promise.reject(error)
  }
}

/** What a cluster answers to keys of several slots; nothing was done. */
export const CROSSSLOT = 'CROSSSLOT'
