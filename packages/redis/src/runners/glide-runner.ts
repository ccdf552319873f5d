import type { Script, ScriptRunner } from '@sluice/limiter-core/backend'
import { isGlideCluster, type ValkeyGlideClient } from './glide-client.ts'
import { isNoScript, shaOf } from './script-sha.ts'

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
      return await this.#client.customCommand(['EVALSHA', shaOf(script), ...rest])
    } catch (error) {
      if (!isNoScript(error)) throw error
      return this.#client.customCommand(['EVAL', script.text, ...rest])
    }
  }
}
