import type { MaybePromise } from './contracts.ts'

/** Carries summaries and control messages between processes. */
export interface Channel {
  publish(topic: string, bytes: Uint8Array): MaybePromise<void>
  subscribe(topic: string, receive: (bytes: Uint8Array) => void): () => void
  close(): MaybePromise<void>
}

/** Runs a script where the data is. The seam for clients other than ours. */
export interface ScriptRunner {
  run(
    script: { readonly name: string; readonly text: string },
    keys: readonly string[],
    args: readonly (string | number)[],
    options?: { readonly deadlineAt: number },
  ): Promise<unknown>
}
