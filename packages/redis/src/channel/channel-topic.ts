import { checkMessage, TopicReceivers } from '@sluice/fleet/backend'
import type { Observers, Script } from '@sluice/limiter-core/backend'
import { channelMessages } from '../lua/scripts.ts'
import type { TopicContent } from './channel-exchange.ts'

type Receive = (bytes: Uint8Array) => void

/** Validated limits of a topic; see `RedisChannelOptions`. */
export interface TopicBounds {
  readonly retainMs: number
  readonly maxRetainedBytes: number
  readonly maxMessageBytes: number
  readonly maxUnsentBytes: number
}

/** Bytes after which a call takes no further message, for sending and for receiving. Such a call takes Redis 1 ms. */
const BATCH_BYTES = 262_144

/** Unsent messages and receivers of one topic in this process. */
export class ChannelTopic implements TopicContent {
  readonly script: Script = channelMessages
  readonly keys: readonly string[]
  readonly settings: readonly number[]
  readonly topic: string
  readonly #bounds: TopicBounds
  readonly #observers: Observers
  #receivers: TopicReceivers
  /** Oldest first. */
  #unsent: Uint8Array[] = []
  #unsentBytes = 0
  #dropped = 0
  /** Number of messages in the pending batch. */
  #sending = 0

  /** `name` is the first part of the Redis keys. Its braces put all of them into one hash slot. */
  constructor(topic: string, name: string, { bounds, observers }: { bounds: TopicBounds; observers: Observers }) {
    this.topic = topic
    this.keys = [`${name}:topic`, `${name}:messages`]
    this.settings = [bounds.retainMs, bounds.maxRetainedBytes, BATCH_BYTES]
    this.#bounds = bounds
    this.#observers = observers
    this.#receivers = new TopicReceivers(observers)
  }

  get listening(): boolean {
    return this.#receivers.size > 0
  }

  get waiting(): number {
    return this.#unsentBytes / BATCH_BYTES
  }

  /**
   * Queues a message and drops the oldest ones if more than `maxUnsentBytes` are queued. Throws `SLUICE_BAD_MESSAGE` if
   * the message is not a `Uint8Array` or is too large.
   */
  publish(bytes: Uint8Array): void {
    const { maxMessageBytes, maxUnsentBytes } = this.#bounds
    checkMessage(bytes, maxMessageBytes)
    // a copy, because the caller may reuse its buffer
    this.#unsent.push(new Uint8Array(bytes))
    this.#unsentBytes += weight(bytes)
    while (this.#unsentBytes > maxUnsentBytes) this.#dropOldest()
  }

  /** Adds a receiver. Returns a function that removes it. */
  add(receive: Receive): () => void {
    const receivers = this.#receivers
    const remove = receivers.add(receive)
    return () => {
      remove()
      // the next receiver reads from the beginning, and must not receive the messages of a pending call
      if (receivers.size === 0 && receivers === this.#receivers) this.leave()
    }
  }

  /** Removes all receivers. */
  leave(): void {
    this.#receivers.clear()
    this.#receivers = new TopicReceivers(this.#observers)
  }

  /** Reports the number of messages that were dropped since the last call to the observers. */
  reportDropped(): void {
    if (this.#dropped > 0) this.#observers.event('sync', { topic: this.topic, dropped: this.#dropped })
    this.#dropped = 0
  }

  next(): readonly string[] | undefined {
    const batch: string[] = []
    let size = 0
    for (const bytes of this.#unsent) {
      if (size >= BATCH_BYTES) break
      size += weight(bytes)
      batch.push(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64'))
    }
    if (batch.length === 0) return undefined
    this.#unsent = this.#unsent.slice(batch.length)
    this.#unsentBytes -= size
    this.#sending = batch.length
    return [batch.join(' ')]
  }

  acknowledged(): void {
    this.#sending = 0
  }

  abandoned(): void {
    this.#dropped += this.#sending
    this.#sending = 0
  }

  isValid(batches: readonly unknown[]): boolean {
    return batches.every((batch) => {
      const isText = typeof batch === 'string' || batch instanceof Uint8Array
      return isText && String(batch).split(' ').every(isBase64)
    })
  }

  received(batches: readonly unknown[], missed: boolean): void {
    const receivers = this.#receivers
    if (missed) this.#observers.event('sync', { topic: this.topic, missed: true })
    for (const batch of batches) {
      for (const text of String(batch).split(' ')) {
        receivers.deliver(new Uint8Array(Buffer.from(text, 'base64')))
      }
    }
  }

  #dropOldest(): void {
    const oldest = this.#unsent.shift()
    if (!oldest) return
    this.#unsentBytes -= weight(oldest)
    this.#dropped++
  }
}

/** Returns the size of a message with its overhead, so that the number of empty messages is limited too. */
function weight(bytes: Uint8Array): number {
  return bytes.byteLength + 64
}

function isBase64(text: string): boolean {
  return text.length % 4 === 0 && /^[A-Za-z\d+/]*={0,2}$/.test(text)
}
