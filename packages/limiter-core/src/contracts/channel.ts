import type { MaybePromise } from './maybe-promise.ts'

/** Carries summaries and control messages between processes. */
export interface Channel {
  publish(topic: string, bytes: Uint8Array, options?: PublishOptions): MaybePromise<void>
  subscribe(topic: string, receive: (bytes: Uint8Array) => void): () => void
  close(): MaybePromise<void>
}

export interface PublishOptions {
  /** Whether a receiver waits for the message: a channel that batches messages sends it at once. Default: false. */
  readonly urgent?: boolean | undefined
}
