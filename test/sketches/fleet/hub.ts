import type { Channel } from '@sluice/limiter-core'

type Receive = (bytes: Uint8Array) => unknown

/** Channels of processes in one process: what one publishes all others receive at once. */
export class Hub {
  /** What publishing throws, while it is set. */
  broken: Error | undefined
  readonly #members = new Set<{ readonly of: object; readonly topic: string; readonly receive: Receive }>()
  #received: unknown[] = []

  /** A channel of one more process. */
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

  /** All that was delivered has been handled. */
  async settled(): Promise<void> {
    await Promise.all(this.#received.splice(0))
  }
}
