import assert from 'node:assert/strict'
import type { Channel, MaybePromise } from '@sluice/limiter-core'
import { eachSeed, type SeededRandom } from '../seeded-random.ts'
import type { TestRunner } from '../suite-runner.ts'

/** Channels of one fleet, new and silent. */
export interface ChannelFleet {
  /** The channel of one more process. */
  open(): MaybePromise<Channel>
  /** Resolves when all that was published so far has been received. */
  exchange(): Promise<void>
  close(): MaybePromise<void>
}

/** A channel of the fleet, and what it received on a topic, as strings. */
interface Member {
  readonly channel: Channel
  readonly received: string[]
  say(text: string, topic?: string): Promise<void>
  listen(topic?: string): () => void
}

interface ChannelBench {
  readonly fleet: ChannelFleet
  member(): Promise<Member>
}

const TOPIC = 'news'
const RUNS = 3
const LARGE_BYTES = 60_000
const BAD_TOPICS = ['', '}', 'a{b', 'ä', 'a\nb', 'x'.repeat(129), undefined, null, 5]

/** The contract of every channel while all members are connected; the effects of outages are specific to each. */
export function channelContract({ describe, test }: TestRunner, makeFleet: () => MaybePromise<ChannelFleet>): void {
  const onBench = async (run: (bench: ChannelBench) => Promise<void>): Promise<void> => {
    const fleet = await makeFleet()
    const opened: Channel[] = []
    try {
      await run({ fleet, member: () => memberOf(fleet, opened) })
    } finally {
      await Promise.all(opened.map((channel) => channel.close()))
      await fleet.close()
    }
  }

  describe('fulfils the channel contract', () => {
    for (const [name, run] of Object.entries(claims)) test(name, () => onBench(run))
    test('all other processes receive each message once, in the order of its sender, with any interleaving', () =>
      eachSeed(RUNS, (random) => onBench((bench) => conversation(bench, random))))
  })
}

async function memberOf(fleet: ChannelFleet, opened: Channel[]): Promise<Member> {
  const channel = await fleet.open()
  opened.push(channel)
  const received: string[] = []
  return {
    channel,
    received,
    say: async (text, topic = TOPIC) => channel.publish(topic, Buffer.from(text)),
    listen: (topic = TOPIC) => channel.subscribe(topic, (bytes) => received.push(Buffer.from(bytes).toString())),
  }
}

async function conversation({ fleet, member }: ChannelBench, random: SeededRandom): Promise<void> {
  const members = [await member(), await member(), await member()]
  for (const { listen } of members) listen()
  const said: string[][] = members.map(() => [])
  for (let step = 0; step < 60; step++) {
    const from = random.whole(members.length)
    const text = `${from}.${said[from].length}`
    said[from].push(text)
    await members[from].say(text)
    if (random.whole(8) === 0) await fleet.exchange()
  }
  await fleet.exchange()
  for (const [to, { received }] of members.entries()) {
    for (const [from, texts] of said.entries()) {
      const ofSender = received.filter((text) => text.startsWith(`${from}.`))
      assert.deepEqual(ofSender, from === to ? [] : texts, `what ${to} received of ${from}`)
    }
  }
}

/** A promise that records whether its rejection is handled. An actual rejection would end the process. */
class ObservedPromise<T> extends Promise<T> {
  isHandled = false

  // biome-ignore lint/suspicious/noThenProperty: it observes the calls of `then` of a promise
  override then<R, S>(
    fulfilled?: ((value: T) => R | PromiseLike<R>) | null,
    rejected?: ((reason: unknown) => S | PromiseLike<S>) | null,
  ): Promise<R | S> {
    this.isHandled ||= typeof rejected === 'function'
    return super.then(fulfilled, rejected)
  }
}

const claims: Readonly<Record<string, (bench: ChannelBench) => Promise<void>>> = {
  async 'others receive what one publishes, and itself nothing'({ fleet, member }) {
    const [one, other, third] = [await member(), await member(), await member()]
    for (const { listen } of [one, other, third]) listen()
    await one.say('a')
    await one.say('b')
    await fleet.exchange()
    assert.deepEqual([one.received, other.received, third.received], [[], ['a', 'b'], ['a', 'b']])
    await fleet.exchange()
    assert.deepEqual(other.received, ['a', 'b'], 'each message once')
  },

  async 'bytes arrive as they were when they were published: none, each value of one, many'({ fleet, member }) {
    const [from, to] = [await member(), await member()]
    const sent = [new Uint8Array(), Uint8Array.from({ length: 256 }, (_, value) => value)]
    sent.push(new Uint8Array(LARGE_BYTES).map((_, at) => at % 251))
    const expected = sent.map((bytes) => Uint8Array.from(bytes))
    const received: Uint8Array[] = []
    to.channel.subscribe(TOPIC, (bytes) => received.push(Uint8Array.from(bytes)))
    for (const bytes of sent) {
      await from.channel.publish(TOPIC, bytes)
      bytes.fill(7)
    }
    await fleet.exchange()
    // lengths and positions, because Node 24 needs gigabytes to show how two large arrays differ
    const lengths = (messages: readonly Uint8Array[]): number[] => messages.map(({ length }) => length)
    assert.deepEqual(lengths(received), lengths(expected))
    for (const [index, bytes] of received.entries()) {
      const at = bytes.findIndex((byte, position) => byte !== expected[index][position])
      assert.equal(at, -1, `byte ${at} of message ${index} is ${bytes[at]}`)
    }
  },

  async 'topics are apart'({ fleet, member }) {
    const [from, to] = [await member(), await member()]
    to.listen('one')
    await from.say('1', 'one')
    await from.say('2', 'two')
    await from.say('3', 'one/two')
    await fleet.exchange()
    assert.deepEqual(to.received, ['1'])
  },

  async 'a receiver that stopped receives nothing, and others of its process go on'({ fleet, member }) {
    const [from, to] = [await member(), await member()]
    const stop = to.listen()
    const further: string[] = []
    to.channel.subscribe(TOPIC, (bytes) => further.push(Buffer.from(bytes).toString()))
    await from.say('a')
    await fleet.exchange()
    stop()
    stop()
    await from.say('b')
    await fleet.exchange()
    assert.deepEqual([to.received, further], [['a'], ['a', 'b']])
  },

  async 'a receiver that throws keeps nobody else from receiving'({ fleet, member }) {
    const [from, to] = [await member(), await member()]
    to.channel.subscribe(TOPIC, () => {
      throw new Error('a fault of the application')
    })
    to.listen()
    await from.say('a')
    await from.say('b')
    await fleet.exchange()
    assert.deepEqual(to.received, ['a', 'b'])
  },

  async 'the rejection of a receiver is handled'({ fleet, member }) {
    const [from, to] = [await member(), await member()]
    const observed = new ObservedPromise<void>(() => {})
    to.channel.subscribe(TOPIC, () => observed as never)
    await from.say('a')
    await fleet.exchange()
    assert.ok(observed.isHandled, 'the channel handles the rejection')
  },

  async 'what is no topic and no message is refused, and sends nothing'({ fleet, member }) {
    const [from, to] = [await member(), await member()]
    to.listen()
    for (const topic of BAD_TOPICS) {
      await refused(() => from.channel.publish(topic as string, new Uint8Array()), `publish on ${String(topic)}`)
      await refused(() => from.channel.subscribe(topic as string, () => {}), `subscribe to ${String(topic)}`)
    }
    for (const bytes of ['text', undefined, 5, []]) {
      await refused(() => from.channel.publish(TOPIC, bytes as never), `publish of ${String(bytes)}`)
    }
    await fleet.exchange()
    assert.deepEqual(to.received, [])
  },

  async 'after its end a channel sends and receives nothing, and ends again'({ fleet, member }) {
    const [one, other] = [await member(), await member()]
    one.listen()
    other.listen()
    await fleet.exchange()
    await one.channel.close()
    await one.channel.close()
    await one.say('from one that ended')
    one.channel.subscribe(TOPIC, () => {})()
    await other.say('to one that ended')
    await fleet.exchange()
    assert.deepEqual([one.received, other.received], [[], []])
  },
}

async function refused(call: () => unknown, what: string): Promise<void> {
  await assert.rejects(async () => call(), { code: 'SLUICE_BAD_MESSAGE' }, what)
}
