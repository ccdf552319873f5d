import { firstOf } from './first-event.ts'
import type { RedisConnection } from './redis-client.ts'

const CONNECTING: readonly string[] = ['connecting', 'connect']
const FINAL_EVENTS = ['ready', 'close', 'end']

/** First attempts to connect, by server name. Calls wait for the first attempt to a server, but not for later ones. */
export class FirstConnects {
  readonly #attempts = new Map<string, Promise<void> | undefined>()

  /** Records that a server has been connected, so that later attempts do not count as the first. */
  markConnected(name: string): void {
    if (!this.#attempts.has(name)) this.#attempts.set(name, undefined)
  }

  /** Resolves when the first attempt has succeeded or failed. Returns undefined if no first attempt is in progress. */
  pending(name: string, connection: RedisConnection): Promise<void> | undefined {
    // the first attempt has not started yet
    if (connection.status === 'wait') return undefined
    if (!this.#attempts.has(name)) {
      const isConnecting = CONNECTING.includes(connection.status)
      this.#attempts.set(name, isConnecting ? this.#ended(name, connection) : undefined)
    }
    return this.#attempts.get(name)
  }

  async #ended(name: string, connection: RedisConnection): Promise<void> {
    await firstOf(connection, FINAL_EVENTS)
    this.#attempts.set(name, undefined)
  }
}
