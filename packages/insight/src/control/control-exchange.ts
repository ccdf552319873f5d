import { settledWithin } from '@sluice/fleet/backend'
import type { Channel, Clock } from '@sluice/limiter-core/backend'
import type { UnreadMessages } from '../unread-messages.ts'
import { ControlCipher } from './control-cipher.ts'
import { type ControlMessage, controlMessage, controlsTexts } from './control-message.ts'
import type { StoredControl } from './stored-control.ts'

/** Maximum time that a change waits for the channel, in ms. */
const TIMEOUT_MS = 2_000
/**
 * Messages sent earlier than this before the start of the process are ignored: a recorded message could begin a change
 * that was undone. A process whose clock is behind is ignored until its clock has reached that time.
 */
const BEFORE_START_MS = 60_000

export interface ControlExchangeOptions {
  readonly channel: Channel
  readonly clock: Clock
  readonly topic: string
  readonly secret: string
  readonly unread: UnreadMessages
  /** Called for each message with the changes that another process knows. */
  readonly received: (controls: readonly StoredControl[]) => void
}

/**
 * Exchanges encrypted changes over the channel. Every message repeats all known changes, so a lost message is made up
 * for by the next one, a second later.
 */
export class ControlExchange {
  readonly #options: ControlExchangeOptions
  readonly #seal: ControlCipher
  /** Ms since 1970. */
  readonly #startedAt: number
  readonly #unsubscribe: () => void

  constructor(options: ControlExchangeOptions) {
    const { channel, topic, secret } = options
    this.#options = options
    this.#startedAt = options.clock.wall()
    this.#seal = new ControlCipher(secret, topic)
    this.#unsubscribe = channel.subscribe(topic, (bytes) => this.#receive(bytes))
  }

  /**
   * Never rejects, and takes at most 2 s. The channel reports failures to its own observers, and the next send repeats
   * all changes.
   */
  async send(controls: readonly StoredControl[], urgent: boolean): Promise<void> {
    const { channel, clock, topic } = this.#options
    const sent = controlsTexts(controls, clock.wall()).map(async (text) =>
      channel.publish(topic, this.#seal.seal(text), { urgent }),
    )
    // one message does not wait for another, because the channel may never settle it
    await settledWithin(Promise.allSettled(sent), TIMEOUT_MS, clock)
  }

  close(): void {
    this.#unsubscribe()
  }

  #receive(bytes: Uint8Array): void {
    let message: ControlMessage
    try {
      message = controlMessage(this.#seal.open(bytes))
    } catch {
      this.#options.unread.add(this.#options.topic)
      return
    }
    const { sentAt = this.#startedAt, controls } = message
    if (sentAt < this.#startedAt - BEFORE_START_MS) this.#options.unread.add(this.#options.topic)
    else this.#options.received(controls)
  }
}
