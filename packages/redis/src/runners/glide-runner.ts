import type { Script, ScriptRunner } from '@sluice/limiter-core/backend'
import type { RedisFailure } from '../client/redis-failure.ts'
import { shaOf } from '../client/script-sha.ts'
import { isGlideCluster, type ValkeyGlideClient } from './glide-client.ts'
import { glideFailure } from './glide-failure.ts'
import { repliesOf } from './replies-of.ts'

/** Runs scripts with valkey-glide, which connects again without help and reports no events. */
export class GlideRunner implements ScriptRunner {
  readonly clustered: boolean
  readonly #client: ValkeyGlideClient

  constructor(client: ValkeyGlideClient) {
    this.#client = client
    this.clustered = isGlideCluster(client)
  }

  async run(script: Script, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown> {
    const rest = [String(keys.length), ...keys, ...args.map(String)]
    try {
      return await this.#sent('EVALSHA', shaOf(script), ...rest)
    } catch (error) {
      if ((error as RedisFailure).code !== 'NOSCRIPT') throw error
      return this.#sent('EVAL', script.text, ...rest)
    }
  }

  sendCommands(commands: readonly (readonly string[])[]): Promise<readonly unknown[]> {
    return repliesOf(commands.map((command) => this.#sent(...command)))
  }

  #sent(...command: readonly string[]): Promise<unknown> {
    return this.#client.customCommand([...command]).catch((error) => {
      throw glideFailure(error)
    })
  }
}
