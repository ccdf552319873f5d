import type { Interruption } from '../interruption.ts'

/** A Lua script for Redis. Scripts with the same name have the same text. */
export interface Script {
  readonly name: string
  readonly text: string
}

/** Runs scripts in Redis. Implement it to use a Redis client that Sluice does not support itself. */
export interface ScriptRunner {
  /**
   * Runs `script` at once or rejects. It must not queue the script while the server is unavailable, and must not send
   * it twice. Numbers may be returned as numbers or strings, lists as arrays. The caller stops waiting at `deadlineAt`,
   * a time of the process clock.
   */
  run(
    script: Script,
    keys: readonly string[],
    args: readonly (string | number)[],
    options?: { readonly deadlineAt: number },
  ): Promise<unknown>
  /** Whether all keys of one script must share a hash slot, as in Redis Cluster. Default: false. */
  readonly clustered?: boolean
  /**
   * Returns the name of the server that holds `key`, so that clocks of different servers are not confused. Default: all
   * keys are on one server.
   */
  serverOf?(key: string): string
  /**
   * Reports when a connection was lost and when it recovered. `server` is the name that `serverOf` returns; undefined
   * means any server. Returns a function that unsubscribes.
   */
  interrupted?(listener: (event: Interruption, server?: string) => void): () => void
}
