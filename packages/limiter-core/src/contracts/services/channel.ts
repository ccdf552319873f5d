import type { MaybePromise } from '../maybe-promise.ts'

/** Carries summaries and messages between processes. A topic has 1 to 128 printable ASCII characters except braces. */
export interface Channel {
  /** Sends a message to the subscribers of a topic in the other processes. */
  publish(topic: string, bytes: Uint8Array, options?: PublishOptions): MaybePromise<void>
  /** Calls `receive` for each message of a topic. Returns a function that unsubscribes. */
  subscribe(topic: string, receive: (bytes: Uint8Array) => void): () => void
  close(): MaybePromise<void>
}

export interface PublishOptions {
  /** Whether to send the message at once, on a channel that otherwise collects messages. Default: false. */
  readonly urgent?: boolean | undefined
}
