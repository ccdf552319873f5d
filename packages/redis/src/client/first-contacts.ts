import type { RedisConnection } from './redis-client.ts'

const CONNECTING: readonly string[] = ['connecting', 'connect']
const ENDINGS = ['ready', 'close', 'end']

/** First attempts to connect, by the name of the server: calls wait for them, and for no later ones. */
export class FirstContacts {
  readonly #attempts = new Map<string, Promise<void> | undefined>()

  /** Records that a connection with this name exists or existed: a later attempt is not the first. */
  made(name: string): void {
    if (!this.#attempts.has(name)) this.#attempts.set(name, undefined)
  }

  /** When the first attempt has ended, well or not; undefined where it has, or a later one is under way. */
  of(name: string, connection: RedisConnection): Promise<void> | undefined {
    // the first is yet to come
    if (connection.status === 'wait') return undefined
    if (!this.#attempts.has(name)) {
      const isUnderWay = CONNECTING.includes(connection.status)
      this.#attempts.set(name, isUnderWay ? this.#ended(name, connection) : undefined)
    }
    return this.#attempts.get(name)
  }

  #ended(name: string, connection: RedisConnection): Promise<void> {
    return new Promise((resolve) => {
      const over = (): void => {
        for (const event of ENDINGS) connection.off(event, over)
        this.#attempts.set(name, undefined)
        resolve()
      }
      for (const event of ENDINGS) connection.on(event, over)
    })
  }
}
