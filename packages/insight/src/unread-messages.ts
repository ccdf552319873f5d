/** Counts messages of other processes that could not be read: malformed, too large, or of another version or secret. */
export class UnreadMessages {
  #count = 0
  readonly #onUnread: (topic: string) => void

  /** `onUnread` is called for each message. */
  constructor(onUnread: (topic: string) => void) {
    this.#onUnread = onUnread
  }

  /** Number of messages on all topics. */
  get count(): number {
    return this.#count
  }

  add(topic: string): void {
    this.#count++
    this.#onUnread(topic)
  }
}
