import type { Channel } from '@sluice/limiter-core'

type Receive = (bytes: Uint8Array) => unknown

/** Connects the channels of several simulated processes: a published message is delivered to all others at once. */
export class Hub {
  /** While set, publishing throws this error. */
  broken: Error | undefined
  readonly #members = new Set<{ readonly of: object; readonly topic: string; readonly receive: Receive }>()
  #received: unknown[] = []

  /** Creates the channel of another process. */
  join(): Channel {
    const of = {}
    return {
      publish: (topic, bytes) => {
        if (this.broken) throw this.broken
        for (const member of this.#members) {
          if (member.of !== of && member.topic === topic) this.#received.push(member.receive(new Uint8Array(bytes)))
        }
      },
      subscribe: (topic, receive) => {
        const member = { of, topic, receive }
        this.#members.add(member)
        return () => this.#members.delete(member)
      },
      close: () => {},
    }
  }

  /** Resolves when all delivered messages have been handled. */
  async settled(): Promise<void> {
    await Promise.all(this.#received.splice(0))
  }
}
