import { isPromise, kindOf, type Observers, type Script, SluiceError } from '@sluice/limiter-core/backend'
import { channelMessages } from '../lua/scripts.ts'
import type { ChannelSide } from './channel-exchange.ts'

type Receive = (bytes: Uint8Array) => void

/** Limits of a topic. */
export interface TopicBounds {
  readonly retainMs: number
  readonly maxRetainedBytes: number
  readonly maxMessageBytes: number
  readonly maxUnsentBytes: number
}

/** Bytes sent and received per call, plus the message that exceeds them; takes Redis about 1 ms. */
const BATCH_BYTES = 262_144

/** One topic of a channel in this process: unsent messages and receivers. */
export class ChannelTopic implements ChannelSide {
  readonly script: Script = channelMessages
  readonly keys: readonly string[]
  readonly settings: readonly number[]
  readonly topic: string
  readonly #bounds: TopicBounds
  readonly #observers: Observers
  #receivers = new Set<{ readonly receive: Receive }>()
  // the oldest first
  #unsent: Uint8Array[] = []
  #unsentBytes = 0
  #dropped = 0
  #sending = 0

  /** `name` is the Redis name of the topic; its braces keep all of its keys in one slot. */
  constructor(topic: string, name: string, { bounds, observers }: { bounds: TopicBounds; observers: Observers }) {
    this.topic = topic
    this.keys = [`${name}:topic`, `${name}:messages`]
    this.settings = [bounds.retainMs, bounds.maxRetainedBytes, BATCH_BYTES]
    this.#bounds = bounds
    this.#observers = observers
  }

  get listening(): boolean {
    return this.#receivers.size > 0
  }

  get waiting(): number {
    return this.#unsentBytes / BATCH_BYTES
  }

  /** Throws `SLUICE_BAD_MESSAGE`. Where too much is unsent, the oldest go. */
  publish(bytes: Uint8Array): void {
    const { maxMessageBytes, maxUnsentBytes } = this.#bounds
    if (!(bytes instanceof Uint8Array) || bytes.byteLength > maxMessageBytes) {
      const received = bytes instanceof Uint8Array ? `${bytes.byteLength} bytes` : kindOf(bytes)
      throw new SluiceError(
        'SLUICE_BAD_MESSAGE',
        `publish: expected a Uint8Array of at most ${maxMessageBytes} bytes, received ${received}`,
      )
    }
    // a copy: the caller may use its own again
    this.#unsent.push(new Uint8Array(bytes))
    this.#unsentBytes += weight(bytes)
    while (this.#unsentBytes > maxUnsentBytes) this.#dropOldest()
  }

  add(receive: Receive): () => void {
    const receiver = { receive }
    const receivers = this.#receivers.add(receiver)
    return () => {
      receivers.delete(receiver)
      // a later receiver starts from the beginning, and receives nothing addressed to the previous one
      if (receivers.size === 0 && receivers === this.#receivers) this.leave()
    }
  }

  /** Called when there are no receivers. */
  leave(): void {
    this.#receivers.clear()
    this.#receivers = new Set()
  }

  /** Reports messages dropped since the last call. */
  tellDropped(): void {
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

  received(batches: readonly unknown[], missed: boolean): void {
    const receivers = this.#receivers
    if (missed) this.#observers.event('sync', { topic: this.topic, missed: true })
    for (const batch of batches) {
      for (const text of String(batch).split(' ')) {
        const bytes = new Uint8Array(Buffer.from(text, 'base64'))
        // a copy: a receiver may remove itself or another, or add one
        for (const receiver of [...receivers]) if (receivers.has(receiver)) this.#deliver(bytes, receiver.receive)
      }
    }
  }

  #deliver(bytes: Uint8Array, receive: Receive): void {
    const failed = (error: unknown): void => this.#observers.event('hookFailed', { hook: 'receive', error })
    try {
      // it may be an async function all the same
      const done: unknown = receive(bytes)
      if (isPromise(done)) done.then(undefined, failed)
    } catch (error) {
      failed(error)
    }
  }

  #dropOldest(): void {
    const oldest = this.#unsent.shift()
    if (!oldest) return
    this.#unsentBytes -= weight(oldest)
    this.#dropped++
  }
}

/** Returns the size of a message including overhead, so that a flood of empty messages is bounded too. */
function weight(bytes: Uint8Array): number {
  return bytes.byteLength + 64
}
