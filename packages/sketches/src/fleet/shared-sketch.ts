import {
  type Channel,
  type Clock,
  Deadlines,
  KEEP_ALIVE,
  messageOf,
  type Observers,
  warnOnce,
} from '@sluice/limiter-core/backend'
import type { Sketch } from '../sketch.ts'
import { checkSize, packed, unpacked } from './sketch-message.ts'

/** Time after which a message that the channel has not settled delays the next one no longer. It is still counted. */
const PUBLISH_MS = 5_000
const DONE = { answered: () => {}, failed: () => {}, late: () => {} }

interface SharedSettings<S> {
  readonly topic: string
  readonly make: () => S
  readonly read: (bytes: Uint8Array) => S
  readonly clock: Clock
  readonly windowMs: number | undefined
  readonly observers: Observers
}

/** Made by `shareSketch`. */
export class SharedSketch<S extends Sketch<S>> {
  /** Counts of this process since its last tick. Count into it; it stays the same object. */
  readonly own: S
  readonly #channel: Channel
  readonly #settings: SharedSettings<S>
  readonly #deadlines: Deadlines
  readonly #blank: Uint8Array
  readonly #unsubscribe: () => void
  #stop: () => void = () => {}
  #window: number
  #fleet: S
  #previous: S
  // for messages of processes whose clocks are ahead
  #next: S
  /** Taken from `own` and not sent yet, by window: two of them at most. */
  readonly #unsent = new Map<number, S>()
  #sending: Promise<void> = Promise.resolve()
  #receiving: Promise<void> = Promise.resolve()
  #closing: Promise<void> | undefined

  constructor(channel: Channel, settings: SharedSettings<S>) {
    this.#channel = channel
    this.#settings = settings
    const { clock, make, topic } = settings
    this.#deadlines = new Deadlines(clock, PUBLISH_MS, KEEP_ALIVE)
    this.own = make()
    this.#blank = this.own.toBytes()
    checkSize(this.#blank, 'SLUICE_BAD_OPTION')
    // throws at start-up if `read` cannot read what `make` creates, which would lose all counts
    settings.read(this.#blank)
    this.#fleet = make()
    this.#previous = make()
    this.#next = make()
    this.#window = this.#windowNow()
    this.#unsubscribe = channel.subscribe(topic, (bytes) => this.#receive(bytes))
  }

  /**
   * What all processes have counted in the current window, as of their last tick; without windows, ever. Do not
   * change it.
   */
  get fleet(): S {
    return this.#fleet
  }

  /** What all processes counted in the previous window, complete except for late messages. Do not change it. */
  get previous(): S {
    return this.#previous
  }

  /** Sends new counts now instead of at the next tick. Never rejects. */
  flush(): Promise<void> {
    if (this.#closing) return this.#closing
    // synchronously, however long the channel takes: later counts belong to the current window
    this.#telling(() => this.#take())
    this.#telling(() => this.#turnTo(this.#windowNow()))
    // later counts are sent even if the channel never settles a message
    this.#sending = this.#sending.then(() => this.#deadlines.race(this.#sendAll(), DONE))
    return this.#sending
  }

  /** Sends the remaining counts and stops. The channel belongs to the caller and stays open. Never rejects. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#stop()
    this.#unsubscribe()
    await this.flush()
  }

  /** For the creator: passes the function that stops its ticks. */
  stopsBy(stop: () => void): void {
    this.#stop = stop
  }

  #telling(run: () => void): void {
    try {
      run()
    } catch (error) {
      this.#tellUnsent(error)
    }
  }

  #take(): void {
    const bytes = this.own.toBytes()
    if (Buffer.compare(bytes, this.#blank) === 0) return
    this.#keep(this.#window, this.#settings.read(bytes))
    this.own.clear()
  }

  #keep(window: number, taken: S): void {
    const unsent = this.#unsent.get(window)
    // other processes accept messages of the previous window, but not older ones
    if (window < this.#window - 1) this.#tellLate()
    else if (unsent) unsent.merge(taken)
    else this.#unsent.set(window, taken)
  }

  async #sendAll(): Promise<void> {
    for (const window of [...this.#unsent.keys()]) {
      const taken = this.#unsent.get(window)
      this.#unsent.delete(window)
      if (taken) await this.#send(window, taken)
    }
  }

  async #send(window: number, taken: S): Promise<void> {
    const { topic } = this.#settings
    try {
      await this.#channel.publish(topic, await packed(window, taken.toBytes()))
    } catch (error) {
      this.#tellUnsent(error)
      // no process has received it: it is sent with the next tick
      this.#telling(() => this.#keep(window, taken))
      return
    }
    this.#count(window, () => taken)
  }

  #turnTo(window: number): void {
    const { make } = this.#settings
    const passed = window - this.#window
    // a wall clock that was set back by a little counts on where it is
    if (passed === 0 || passed === -1) return
    this.#previous = passed === 1 ? this.#fleet : make()
    this.#fleet = passed === 1 ? this.#next : make()
    this.#next = make()
    this.#window = window
    for (const [taken, sketch] of [...this.#unsent]) {
      this.#unsent.delete(taken)
      this.#keep(taken, sketch)
    }
  }

  #receive(bytes: Uint8Array): Promise<void> {
    // one after the other: a small message may need the memory of a large sketch
    this.#receiving = this.#receiving.then(() => this.#read(bytes))
    return this.#receiving
  }

  async #read(bytes: Uint8Array): Promise<void> {
    try {
      const { window, sketch } = await unpacked(bytes)
      this.#count(window, () => this.#settings.read(sketch))
    } catch (error) {
      this.#tellUnread(error)
    }
  }

  #count(window: number, read: () => S): void {
    try {
      const sketch = read()
      const here = this.#sketchOf(window)
      if (here) here.merge(sketch)
      else this.#tellLate()
    } catch (error) {
      this.#tellUnread(error)
    }
  }

  #tellUnsent(error: unknown): void {
    const { topic, observers } = this.#settings
    observers.event('sync', { topic, unsent: messageOf(error) })
  }

  #tellLate(): void {
    const { topic, observers } = this.#settings
    observers.event('sync', { topic, late: true })
  }

  #tellUnread(error: unknown): void {
    const { topic, observers } = this.#settings
    const code = (error as { code?: unknown } | undefined | null)?.code ?? 'SLUICE_BAD_BYTES'
    observers.event('sync', { topic, unread: code })
    warnOnce(
      'SLUICE_SKETCH_UNREADABLE',
      () => `a sketch of topic '${topic}' could not be read: ${messageOf(error)}`,
      topic,
    )
  }

  /** Returns the sketch that counts `window`, unless that has ended or is too far in the future. */
  #sketchOf(window: number): S | undefined {
    if (window === this.#window) return this.#fleet
    if (window === this.#window - 1) return this.#previous
    return window === this.#window + 1 ? this.#next : undefined
  }

  #windowNow(): number {
    const { clock, windowMs } = this.#settings
    return windowMs === undefined ? 0 : Math.floor(clock.wall() / windowMs)
  }
}
