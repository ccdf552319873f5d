import { describe, expect, test } from '@jest/globals'
import type { Channel } from '@sluice/limiter-core'
import { isPromise, SluiceError } from '@sluice/limiter-core/backend'
import { channelContract } from '@sluice/testkit'
import { firstFailedClaim } from './claims-run.ts'

/** A defect that the hub simulates. */
type Fault =
  | 'aliases bytes'
  | 'delivers to the sender'
  | 'delivers twice'
  | 'delivers in reverse'
  | 'merges topics'
  | 'stops at the first receiver that throws'
  | 'ignores that a receiver rejects'
  | 'unsubscribes every receiver at once'
  | 'accepts invalid topics'
  | 'accepts invalid messages'
  | 'keeps delivering after close'

interface Message {
  readonly from: HubChannel
  readonly topic: string
  readonly bytes: Uint8Array
}

/** An in-memory hub that connects the channels of one process. */
class Hub {
  readonly fault: Fault | undefined
  readonly channels = new Set<HubChannel>()
  #waiting: Message[] = []

  constructor(fault: Fault | undefined) {
    this.fault = fault
  }

  send(message: Message): void {
    this.#waiting.push(message)
  }

  async exchange(): Promise<void> {
    const waiting = this.fault === 'delivers in reverse' ? this.#waiting.reverse() : this.#waiting
    this.#waiting = []
    for (const { from, topic, bytes } of waiting) {
      for (const channel of this.channels) {
        if (channel === from && this.fault !== 'delivers to the sender') continue
        channel.receive(topic, bytes)
        if (this.fault === 'delivers twice') channel.receive(topic, bytes)
      }
    }
  }
}

class HubChannel implements Channel {
  readonly #hub: Hub
  #receivers: { readonly topic: string; readonly receive: (bytes: Uint8Array) => void }[] = []
  #isClosed = false

  constructor(hub: Hub) {
    this.#hub = hub
    hub.channels.add(this)
  }

  publish(topic: string, bytes: Uint8Array): void {
    this.#check(topic)
    if (!(bytes instanceof Uint8Array) && this.#hub.fault !== 'accepts invalid messages') throw badMessage()
    if (this.#isClosed) return
    const own = this.#hub.fault === 'aliases bytes' ? bytes : Uint8Array.from(bytes)
    this.#hub.send({ from: this, topic: this.#topicOf(topic), bytes: own })
  }

  subscribe(topic: string, receive: (bytes: Uint8Array) => void): () => void {
    this.#check(topic)
    const receiver = { topic: this.#topicOf(topic), receive }
    this.#receivers.push(receiver)
    return () => {
      const isAll = this.#hub.fault === 'unsubscribes every receiver at once'
      this.#receivers = this.#receivers.filter((other) => !isAll && other !== receiver)
    }
  }

  close(): void {
    if (this.#hub.fault === 'keeps delivering after close') return
    this.#isClosed = true
    this.#hub.channels.delete(this)
  }

  receive(topic: string, bytes: Uint8Array): void {
    for (const { receive } of this.#receivers.filter((receiver) => receiver.topic === topic)) {
      try {
        const done: unknown = receive(bytes)
        if (isPromise(done) && this.#hub.fault !== 'ignores that a receiver rejects') done.then(undefined, () => {})
      } catch {
        if (this.#hub.fault === 'stops at the first receiver that throws') return
      }
    }
  }

  #topicOf(topic: string): string {
    return this.#hub.fault === 'merges topics' ? String(topic).slice(0, 1) : topic
  }

  #check(topic: unknown): void {
    if (this.#hub.fault === 'accepts invalid topics') return
    if (typeof topic !== 'string' || !/^[!-z|~]{1,128}$/.test(topic)) throw badMessage()
  }
}

function badMessage(): SluiceError {
  return new SluiceError('SLUICE_BAD_MESSAGE', 'expected one, received what is none')
}

function fleetOf(fault?: Fault): Parameters<typeof channelContract>[1] {
  return () => {
    const hub = new Hub(fault)
    return { open: () => new HubChannel(hub), exchange: () => hub.exchange(), close: () => {} }
  }
}

describe('a channel without a fault', () => channelContract({ describe, test }, fleetOf()))

test.each<Fault>([
  'aliases bytes',
  'delivers to the sender',
  'delivers twice',
  'delivers in reverse',
  'merges topics',
  'stops at the first receiver that throws',
  'ignores that a receiver rejects',
  'unsubscribes every receiver at once',
  'accepts invalid topics',
  'accepts invalid messages',
  'keeps delivering after close',
])('the channel contract detects a channel that %s', async (fault) => {
  expect(await firstFailedClaim((runner) => channelContract(runner, fleetOf(fault)))).toBeDefined()
})
