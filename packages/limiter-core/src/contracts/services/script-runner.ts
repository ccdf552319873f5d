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
  /**
   * Sends commands at once, in this order, or returns undefined; scripts are then run instead. Each command is its name,
   * a key, and its arguments. All keys are on one server, and without `serverOf` in one hash slot. Resolves with a reply
   * for each command, which is an `Error` if the server refused the command. Rejects like `run`. Default: only scripts
   * are run.
   */
  sendCommands?(commands: readonly (readonly string[])[]): Promise<readonly unknown[]> | undefined
  /** Whether all keys of one script must share a hash slot, as in Redis Cluster. Default: false. */
  readonly clustered?: boolean
  /**
   * Whether a call contains only requests of one task of the event loop, and waits for no earlier call. For platforms
   * such as Cloudflare Workers, where a call ends with the request that made it. Default: false, requests that are made
   * while a call is pending share the next one.
   */
  readonly perTask?: boolean
  /** Returns the name of the server that holds `key`: clocks of servers differ. Default: all keys are on one server. */
  serverOf?(key: string): string
  /**
   * Reports when a connection was lost and when it recovered. `server` is the name that `serverOf` returns; undefined
   * means any server. Returns a function that unsubscribes.
   */
  interrupted?(listener: (event: Interruption, server?: string) => void): () => void
}
