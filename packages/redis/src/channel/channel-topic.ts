import { isPromise, type Observers, type Script, SluiceError } from '@sluice/limiter-core/backend'
import { channelMessages } from '../lua/scripts.ts'
import type { ChannelSide } from './channel-exchange.ts'

type Receive = (bytes: Uint8Array) => void

/** How much of a topic is held where. */
export interface TopicBounds {
  readonly retainMs: number
  readonly maxRetainedBytes: number
  readonly maxMessageBytes: number
  readonly maxUnsentBytes: number
}

/** So much, and the message that reaches it, goes up at a time and comes down at a time, which takes Redis about 1 ms. */
const BATCH_BYTES = 262_144

/** One topic of a channel in this process: what it has not sent yet, and who listens. */
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

  /** `name` is the topic's in Redis; its braces hold all keys of it in one slot. */
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
      const got = bytes instanceof Uint8Array ? `${bytes.byteLength} bytes` : 'no Uint8Array'
      throw new SluiceError('SLUICE_BAD_MESSAGE', `publish: expected at most ${maxMessageBytes} bytes, received ${got}`)
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
      // who listens next is told from the start, and nothing of what the last one is told now
      if (receivers.size === 0 && receivers === this.#receivers) this.leave()
    }
  }

  /** Nobody listens any more. */
  leave(): void {
    this.#receivers.clear()
    this.#receivers = new Set()
  }

  /** Tells of what was dropped since it was last asked. */
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
        // those of this instant: one may stop itself or another, or add one
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

/** Of a message, with what holding it costs, so that a flood of empty ones is bounded too. */
function weight(bytes: Uint8Array): number {
  return bytes.byteLength + 64
}
