import { gossipChannel } from '@sluice/gossip'
import type { SeededRandom } from '@sluice/testkit'
import { GossipFleet, type GossipNetwork } from '../gossip-fleet.ts'

export interface Agreement {
  /** Ms until the last replica had a message: for half of the messages, for 99 of 100, for all. */
  readonly p50: number
  readonly p99: number
  readonly most: number
}

/** Measures how long messages need to reach all `replicas`. Each is sent by a random replica at a random time. */
export async function agreementOf(
  {
    replicas,
    messages,
    network,
  }: { readonly replicas: number; readonly messages: number; readonly network: GossipNetwork },
  random: SeededRandom,
): Promise<Agreement> {
  const fleet = new GossipFleet(random, network)
  const sentAt: number[] = []
  const receivedAt: number[] = []
  const left: number[] = []
  const channels = Array.from({ length: replicas }, () => {
    const channel = gossipChannel(fleet.start())
    channel.subscribe('news', (bytes) => {
      const message = Number(Buffer.from(bytes).toString())
      left[message]--
      receivedAt[message] = fleet.clock.now()
    })
    return channel
  })
  // every replica has a log, and all others report how much of it they have
  for (const channel of channels) channel.publish('greetings', new Uint8Array())
  await fleet.run(3_000)
  for (let message = 0; message < messages; message++) {
    sentAt.push(fleet.clock.now())
    left.push(replicas - 1)
    random.pick(channels).publish('news', Buffer.from(String(message)))
    await fleet.run(10 * random.whole(10))
  }
  await fleet.until(() => left.every((missing) => missing === 0), 10_000)
  await fleet.stop()
  const times = sentAt.map((at, message) => receivedAt[message] - at).sort((one, other) => one - other)
  const at = (part: number): number => times[Math.min(times.length - 1, Math.floor(part * times.length))]
  return { p50: at(0.5), p99: at(0.99), most: at(1) }
}
