import type { Script } from '@sluice/limiter-core/backend'
import { isNoScript, shaOf } from '../client/script-sha.ts'
import type { NodeRedisClient } from './node-redis-client.ts'

/** Runs a script with node-redis: by `EVALSHA`, and by `EVAL` if the server has not cached the script yet. */
export function evaluated(
  client: NodeRedisClient,
  script: Script,
  keys: readonly string[],
  args: readonly (string | number)[],
): Promise<unknown> {
  const options = { keys: [...keys], arguments: args.map(String) }
  return client.evalSha(shaOf(script), options).catch((error) => {
    if (isNoScript(error)) return client.eval(script.text, options)
    throw error
  })
}
