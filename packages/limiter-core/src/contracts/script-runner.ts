import type { Interruption } from './interruption.ts'

/** A script that runs in Redis. A name always has the same text. */
export interface Script {
  readonly name: string
  readonly text: string
}

/** Runs a script where the data is. The seam for clients other than ours. */
export interface ScriptRunner {
  /**
   * Runs `script` at once or rejects: never queues it for an unavailable server and never sends it twice. Numbers may
   * be returned as numbers or strings, lists as arrays. After `deadlineAt` (process time) the caller no longer waits.
   */
  run(
    script: Script,
    keys: readonly string[],
    args: readonly (string | number)[],
    options?: { readonly deadlineAt: number },
  ): Promise<unknown>
  /** True where all keys of one script must share a hash slot. */
  readonly clustered?: boolean
  /**
   * Returns the name of the server that holds `key`, so that clocks of different servers are not mixed up. Default:
   * one server.
   */
  serverOf?(key: string): string
  /**
   * Reports when a connection was lost and when it recovered: the connection to the named server (see `serverOf`), or
   * any connection if no name is passed. Returns a function that unsubscribes.
   */
  interrupted?(listener: (event: Interruption, server?: string) => void): () => void
}
