import type { Channel } from '@sluice/limiter-core/backend'
import { controlsOf, controlsTexts } from './control-message.ts'
import { ControlSeal } from './control-seal.ts'
import type { StoredControl } from './stored-control.ts'

export interface ControlExchangeOptions {
  readonly channel: Channel
  readonly topic: string
  readonly secret: string
  /** What other processes know; called for each of their messages. */
  readonly received: (controls: readonly StoredControl[]) => void
}

/** Tells other processes all changes that are known, sealed. Whoever missed one hears of it a second later. */
export class ControlExchange {
  /** Messages that nobody with the secret sealed, or of another version. */
  refused = 0
  readonly #options: ControlExchangeOptions
  readonly #seal: ControlSeal
  readonly #unsubscribe: () => void

  constructor(options: ControlExchangeOptions) {
    const { channel, topic, secret } = options
    this.#options = options
    this.#seal = new ControlSeal(secret, topic)
    this.#unsubscribe = channel.subscribe(topic, (bytes) => this.#receive(bytes))
  }

  /** Never rejects: who watches the channel hears why, and the next second tells it again. */
  async send(controls: readonly StoredControl[], urgent: boolean): Promise<void> {
    const { channel, topic } = this.#options
    try {
      for (const text of controlsTexts(controls)) await channel.publish(topic, this.#seal.seal(text), { urgent })
    } catch {}
  }

  close(): void {
    this.#unsubscribe()
  }

  #receive(bytes: Uint8Array): void {
    let controls: StoredControl[]
    try {
      controls = controlsOf(this.#seal.open(bytes))
    } catch {
      this.refused++
      return
    }
    this.#options.received(controls)
  }
}
