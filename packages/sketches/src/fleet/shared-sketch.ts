import { type Channel, type Clock, messageOf, type Observers, warnOnce } from '@sluice/limiter-core'
import type { Sketch } from '../sketch.ts'
import { packed, unpacked } from './sketch-message.ts'

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
  /** What this process counted since its last tick. Count into it; it stays the same object. */
  readonly own: S
  readonly #channel: Channel
  readonly #settings: SharedSettings<S>
  readonly #blank: Uint8Array
  readonly #unsubscribe: () => void
  #stop: () => void = () => {}
  #window: number
  #fleet: S
  #previous: S
  // of processes whose clocks are ahead of ours
  #next: S
  #flushing: Promise<void> = Promise.resolve()

  constructor(channel: Channel, settings: SharedSettings<S>) {
    this.#channel = channel
    this.#settings = settings
    const { make, topic } = settings
    this.own = make()
    this.#blank = this.own.toBytes()
    // one that reads not even its own would lose what it takes
    settings.read(this.#blank)
    this.#fleet = make()
    this.#previous = make()
    this.#next = make()
    this.#window = this.#windowNow()
    this.#unsubscribe = channel.subscribe(topic, (bytes) => this.#receive(bytes))
  }

  /** What all processes counted in the window that runs, as of their last tick; without windows, ever. Do not change it. */
  get fleet(): S {
    return this.#fleet
  }

  /** What all processes counted in the window before, whole but for what comes late. Do not change it. */
  get previous(): S {
    return this.#previous
  }

  /** Sends what is new at once instead of with the next tick. Never rejects. */
  flush(): Promise<void> {
    // one after the other, and each after all that was counted before it was asked for
    this.#flushing = this.#flushing.then(() => this.#flush())
    return this.#flushing
  }

  /** Sends what is left, and ends. The channel is the caller's and stays open. Never rejects. */
  async close(): Promise<void> {
    this.#stop()
    this.#unsubscribe()
    await this.flush()
  }

  /** For whoever makes it: what stops its ticks. */
  stopsBy(stop: () => void): void {
    this.#stop = stop
  }

  async #flush(): Promise<void> {
    const { topic, observers } = this.#settings
    try {
      const bytes = this.own.toBytes()
      if (Buffer.compare(bytes, this.#blank) !== 0) await this.#send(bytes)
      this.#turnTo(this.#windowNow())
    } catch (error) {
      observers.event('sync', { topic, unsent: messageOf(error) })
    }
  }

  async #send(bytes: Uint8Array): Promise<void> {
    const taken = this.#settings.read(bytes)
    this.own.clear()
    try {
      await this.#channel.publish(this.#settings.topic, await packed(this.#window, bytes))
    } catch (error) {
      // nobody has it: it goes with the next tick
      this.own.merge(taken)
      throw error
    }
    this.#fleet.merge(taken)
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
  }

  async #receive(bytes: Uint8Array): Promise<void> {
    const { read, topic, observers } = this.#settings
    try {
      const { window, sketch } = await unpacked(bytes)
      const received = read(sketch)
      const here = this.#sketchOf(window)
      if (here) here.merge(received)
      else observers.event('sync', { topic, late: true })
    } catch (error) {
      const code = (error as { code?: unknown }).code ?? 'SLUICE_BAD_BYTES'
      observers.event('sync', { topic, unread: code })
      warnOnce(
        'SLUICE_SKETCH_UNREAD',
        () => `a sketch of topic '${topic}' could not be read: ${messageOf(error)}`,
        topic,
      )
    }
  }

  /** The one that counts `window`, where it is not over nor far ahead. */
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
