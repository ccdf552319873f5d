import type { MaybePromise } from './maybe-promise.ts'

/** Carries summaries and control messages between processes. */
export interface Channel {
  publish(topic: string, bytes: Uint8Array): MaybePromise<void>
  subscribe(topic: string, receive: (bytes: Uint8Array) => void): () => void
  close(): MaybePromise<void>
}
