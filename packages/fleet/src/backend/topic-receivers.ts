import { isPromise, kindOf, type Observers, SluiceError } from '@sluice/limiter-core/backend'

type Receive = (bytes: Uint8Array) => void

/** The receivers of one topic of a channel in this process. */
export class TopicReceivers {
  readonly #observers: Observers
  readonly #receivers = new Set<{ readonly receive: Receive }>()

  constructor(observers: Observers) {
    this.#observers = observers
  }

  get size(): number {
    return this.#receivers.size
  }

  /** Adds a receiver. Returns a function that removes it; further calls have no effect. */
  add(receive: Receive): () => void {
    const receiver = { receive }
    this.#receivers.add(receiver)
    return () => void this.#receivers.delete(receiver)
  }

  clear(): void {
    this.#receivers.clear()
  }

  /** Calls each receiver once. Observers receive `hookFailed` for a receiver that throws or rejects. */
  deliver(bytes: Uint8Array): void {
    // a copy, because a receiver may add or remove receivers
    for (const receiver of [...this.#receivers]) {
      if (this.#receivers.has(receiver)) this.#deliverTo(receiver.receive, bytes)
    }
  }

  #deliverTo(receive: Receive, bytes: Uint8Array): void {
    const failed = (error: unknown): void => this.#observers.event('hookFailed', { hook: 'receive', error })
    try {
      // the type requires no promise, but an async function may be passed
      const done: unknown = receive(bytes)
      if (isPromise(done)) done.then(undefined, failed)
    } catch (error) {
      failed(error)
    }
  }
}

/** Throws `SLUICE_BAD_MESSAGE` unless `bytes` is a `Uint8Array` of at most `most` bytes. */
export function checkMessage(bytes: unknown, most: number): asserts bytes is Uint8Array {
  if (bytes instanceof Uint8Array && bytes.byteLength <= most) return
  const received = bytes instanceof Uint8Array ? `${bytes.byteLength} bytes` : kindOf(bytes)
  throw new SluiceError(
    'SLUICE_BAD_MESSAGE',
    `publish: bytes: expected a Uint8Array of at most ${most} bytes, received ${received}`,
  )
}
