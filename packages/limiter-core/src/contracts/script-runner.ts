import type { Interruption } from './interruption.ts'

/** Text that runs where the data is. One name always has one text. */
export interface Script {
  readonly name: string
  readonly text: string
}

/** Runs a script where the data is. The seam for clients other than ours. */
export interface ScriptRunner {
  /**
   * Runs `script` at once or rejects: never queues for a server that is not there, never sends twice. Numbers come
   * back as numbers or as text, lists as arrays. After `deadlineAt` (of the process clock) nobody waits for the answer.
   */
  run(
    script: Script,
    keys: readonly string[],
    args: readonly (string | number)[],
    options?: { readonly deadlineAt: number },
  ): Promise<unknown>
  /** True where all keys of one script must share a hash slot. */
  readonly clustered?: boolean
  /** Names the server that holds `key`, so that its clock is told from those of others. Default: one server. */
  serverOf?(key: string): string
  /**
   * Tells that a connection broke or came back: that to the server of this name, as `serverOf` names it, or where none is
   * said to any. Returns a function that stops it.
   */
  interrupted?(listener: (event: Interruption, server?: string) => void): () => void
}
