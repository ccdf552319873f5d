import { createHmac } from 'node:crypto'
import { afterEach, describe, expect, test } from '@jest/globals'
import { prometheusText } from '@sluice/fleet/metrics'
import {
  createGossip,
  type GossipChannel,
  type GossipCounters,
  type GossipNode,
  type GossipPeer,
  gossipBackend,
  gossipChannel,
  gossipCounters,
} from '@sluice/gossip'
import { createLimiter, type SyncLimiterOptions } from '@sluice/limiter-core'
import { eachSeed, FakeClock, type SeededRandom } from '@sluice/testkit'
import { counterLog, sampleOf } from '../gossip/hostile-sender.ts'
import { hostileValue } from './hostile-value.ts'

const SECRET = 'a secret of the whole fleet'
const BIG = Number.MAX_SAFE_INTEGER
const ID = 'A'.repeat(22)
/** Real time of the slowest message, in ms: a message of 256 KiB takes some milliseconds. */
const SLOW_MS = 2_000

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

/** An honest replica with all uses of gossip, whose messages are recorded. */
class Replica {
  readonly node: GossipNode
  readonly channel: GossipChannel
  readonly counters: GossipCounters
  readonly received: string[] = []
  readonly #limiter
  readonly #backend
  peers: GossipPeer[] = []

  constructor(clock: FakeClock, random: SeededRandom) {
    this.node = createGossip({ peers: () => this.peers, clock, secret: SECRET, random: () => random.next() })
    this.channel = gossipChannel(this.node)
    this.channel.subscribe('news', (bytes) => this.received.push(Buffer.from(bytes).toString()))
    this.counters = gossipCounters(this.node, { deadAfterMs: '10s' })
    const backend = gossipBackend(this.node, { nodes: 2, floor: 0 })
    const policies = [{ name: 'api', limit: 1_000, window: '1h', algorithm: 'fixed-window', backend }]
    this.#backend = backend
    this.#limiter = createLimiter({ policies, clock, scope: 'default' } as SyncLimiterOptions)
    closing.push(() => this.node.close())
  }

  peer(recorded: unknown[] = []): GossipPeer {
    const exchange = async (message: Uint8Array): Promise<Uint8Array> => {
      const answer = this.node.answer(message)
      for (const bytes of [message, answer]) recorded.push(JSON.parse(Buffer.from(bytes).subarray(32).toString()))
      return answer
    }
    return { name: this.node.replica, exchange }
  }

  take(key: string, units: number): void {
    this.#limiter.take(key, units)
  }

  remaining(key: string): number {
    return this.#limiter.peek(key).binding.remaining
  }

  sample(name: string): number {
    return sampleOf(prometheusText(this.node, this.#backend, this.counters), name) ?? 0
  }
}

/**
 * Sends messages with the secret of the fleet. It does not write in the logs of the honest replicas, and does not send
 * different items of one log to them: no replica can find out which are right.
 */
class Attacker {
  readonly codes = new Set<unknown>()
  /** Whether the replicas in the statuses of the attacker may vote. */
  readonly hasVoters: boolean
  slowestMs = 0
  readonly #random: SeededRandom
  readonly #recorded: readonly unknown[]
  readonly #honest: readonly Replica[]
  /** Names of logs of the honest replicas, which the attacker reads from their answers. */
  #known: string[] = []
  #names = 0

  constructor(random: SeededRandom, recorded: readonly unknown[], honest: readonly Replica[]) {
    this.#random = random
    this.hasVoters = random.whole(3) === 0
    this.#recorded = recorded
    this.#honest = honest
  }

  /** Peer that answers with hostile messages. */
  get peer(): GossipPeer {
    const exchange = async (message: Uint8Array): Promise<Uint8Array> => {
      const asked = JSON.parse(Buffer.from(message).subarray(32).toString())
      if (this.#random.whole(4) === 0) return this.#raw()
      const kind = asked.kind === 'ask' ? 'answer' : this.#random.pick(['done', 'answer'])
      return sealed({ ...this.#message(), kind, nonce: asked.nonce })
    }
    return { name: 'attacker', exchange }
  }

  attack({ node }: Replica): void {
    const { clocks, ticket } = this.#answer(node, sealed({ ...HEAD, kind: 'ask', clocks: [] }))
    this.#known = (clocks ?? []).map(([name]) => name)
    const message = this.#random.whole(5) === 0 ? this.#raw() : sealed({ ...this.#message(), ticket })
    this.#answer(node, message)
  }

  #answer(node: GossipNode, message: Uint8Array): { clocks?: [string, number][]; ticket?: string } {
    const from = performance.now()
    try {
      const answer = node.answer(message)
      expect(answer.byteLength).toBeLessThanOrEqual(262_144)
      return JSON.parse(Buffer.from(answer).subarray(32).toString())
    } catch (error) {
      this.codes.add((error as { readonly code?: unknown }).code ?? error)
      return {}
    } finally {
      this.slowestMs = Math.max(this.slowestMs, performance.now() - from)
    }
  }

  /** Returns bytes that are not sealed, or not JSON, or an honest message that was damaged or recorded. */
  #raw(): Uint8Array {
    const random = this.#random
    const bytes = Buffer.from(Array.from({ length: random.whole(200) }, () => random.whole(256)))
    const honest = sealed(random.pick(this.#recorded) ?? {})
    const damaged = Buffer.from(honest)
    damaged[random.whole(damaged.length)] ^= 1 << random.whole(8)
    const texts = ['', '[', 'null', '1', '"x"', '[]', '{}', '['.repeat(100_000), '{"a":'.repeat(10_000)]
    return random.pick([bytes, damaged, damaged.subarray(random.whole(64)), honest, sealedText(random.pick(texts))])
  }

  #message(): object {
    const random = this.#random
    if (random.whole(4) === 0) return this.#mutated()
    const kind = random.pick(['ask', 'push', 'push', 'push', 'push', 'answer', 'done', hostileValue(random)])
    const parts = random.whole(8) === 0 ? hostileValue(random) : this.#parts()
    return { ...HEAD, kind, parts, clocks: this.#clocks(), cursors: this.#clocks(), unwanted: this.#clocks() }
  }

  /** Returns an honest message under names of the attacker, with one value replaced. */
  #mutated(): object {
    const random = this.#random
    const names = [...this.#honest.map(({ node }) => node.replica), ...this.#known]
    let json = JSON.stringify(random.pick(this.#recorded) ?? {})
    for (const name of names) json = json.replaceAll(name, this.#renamed(name))
    return replaced(JSON.parse(json), random) as object
  }

  #renamed(name: string): string {
    const fresh = this.#names++
    return name.startsWith('counters-') ? counterLog(fresh) : `attacker-${fresh}`
  }

  #clocks(): unknown {
    const random = this.#random
    const names = [...this.#known, ...this.#honest.map(({ node }) => node.replica), 'attacker', '__proto__']
    const many = Array.from({ length: 2_000 }, (_, n) => [`${n}-${random.whole(BIG_32)}`, BIG])
    const some = names.map((name) => [name, random.pick([0, 1, 5, BIG, -1, 0.5])])
    return random.pick([[], some, many, hostileValue(random)])
  }

  #parts(): unknown {
    const random = this.#random
    const count = random.pick([1, 1, 2, 5, 400])
    return Array.from({ length: count }, () => {
      const items = count > 100 ? [this.#item(BIG)] : this.#items()
      const cut = random.pick([[], [], [], [1], [0, random.pick([1, BIG])], [hostileValue(random)]])
      return [this.#name(), random.pick([0, 0, 1, BIG]), random.pick([BIG, BIG, 10]), items, ...cut]
    })
  }

  #name(): unknown {
    const fresh = this.#names++
    return this.#random.pick([`attacker-${fresh}`, 'attacker', counterLog(fresh), counterLog(fresh), '__proto__', ''])
  }

  #items(): unknown {
    const random = this.#random
    if (random.whole(10) === 0) return hostileValue(random)
    const first = random.pick([1, 2, 5, BIG - 10])
    return Array.from({ length: random.whole(6) }, (_, at) => this.#item(first + at))
  }

  #item(clock: number): unknown {
    const random = this.#random
    const log = random.pick([...this.#known, counterLog(random.whole(5)), 'attacker'])
    const votes = Array.from({ length: random.whole(300) }, (_, n) => [random.pick([log, counterLog(n)]), log, BIG])
    const text = Buffer.from('x').toString('base64')
    const [key, value] = random.pick<readonly [string, unknown]>([
      [`limit:${ID}`, [random.pick([60_000, BIG]), random.pick([-1, 0]), [BIG, 1, BIG]]],
      [`limit:${random.whole(1_000)}`.padEnd(28, 'x'), [60_000, -1, [0, BIG, 0]]],
      ['limit:time', random.pick([0, 2 ** 50, BIG])],
      [`message:${clock}`, [random.pick(['other', '__proto__']), text, random.whole(3), random.pick([1, 3, BIG])]],
      ['counters:id:attacked', [random.pick([0, 1, BIG]), random.pick([5, BIG, '9'.repeat(30)]), random.whole(2)]],
      [`counters:id:${random.whole(BIG_32)}`, [0, 1, 0]],
      [
        'counters:member',
        [
          random.pick([log, '']),
          random.pick([0, -1, 1e308]),
          random.whole(2),
          random.whole(this.hasVoters ? 2 : 1),
          votes,
        ],
      ],
      [`counters:folded:${log}`, random.pick([0, 3, BIG, -1])],
      [random.pick(['', ':', '__proto__:x', 'unknown:x', 'x'.repeat(1_024)]), hostileValue(random)],
      [random.pick(['limit:time', 'message:1', 'counters:member', 'counters:id:x']), hostileValue(random)],
    ])
    return [clock, random.pick([0, 0, 1_000, BIG]), key, value]
  }
}

const BIG_32 = 2 ** 32
const HEAD = { v: 1, from: 'attacker', nonce: 'n' }

function sealed(message: unknown): Buffer {
  return sealedText(JSON.stringify(message))
}

function sealedText(text: string): Buffer {
  const body = Buffer.from(text)
  return Buffer.concat([createHmac('sha256', SECRET).update(body).digest(), body])
}

/** Returns a copy with a random value inside replaced. */
function replaced(value: unknown, random: SeededRandom): unknown {
  if (typeof value !== 'object' || value === null || random.whole(12) === 0) return hostileValue(random)
  const keys = Object.keys(value)
  if (keys.length === 0) return value
  const key = random.pick(keys)
  const part = replaced((value as Record<string, unknown>)[key], random)
  return Array.isArray(value) ? value.map((one, at) => (String(at) === key ? part : one)) : { ...value, [key]: part }
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve))
}

async function run(clock: FakeClock, ms: number, stepMs = 100): Promise<void> {
  for (let left = ms; left > 0; left -= stepMs) {
    clock.advance(Math.min(stepMs, left))
    await turns()
  }
}

describe('gossip messages of an attacker that has the secret', () => {
  test('do not crash or block replicas, or prevent that they agree', () =>
    eachSeed(2, async (random) => {
      const clock = new FakeClock()
      const replicas = [new Replica(clock, random), new Replica(clock, random)]
      const [one, other] = replicas
      const recorded: unknown[] = []
      const attacker = new Attacker(random, recorded, replicas)
      one.peers = [other.peer(recorded)]
      other.peers = [one.peer(recorded)]
      await one.counters.increment('honest', 3)
      one.channel.publish('news', Buffer.from('before'))
      await run(clock, 1_000)
      expect(other.received).toEqual(['before'])

      one.peers = [other.peer(), attacker.peer]
      for (let n = 0; n < 150; n++) {
        attacker.attack(one)
        if (n % 3 === 0) attacker.attack(other)
        await run(clock, random.pick([0, 20, 100]))
      }
      for (const code of attacker.codes) expect(['SLUICE_BAD_MESSAGE', 'SLUICE_GOSSIP_FORGED']).toContain(code)
      expect(attacker.slowestMs).toBeLessThan(SLOW_MS)
      for (const replica of replicas) expect(replica.sample('sluice_gossip_replicas')).toBeLessThan(3_100)

      one.peers = [other.peer()]
      await run(clock, 60_000, 1_000)
      await run(clock, 2_000)
      const before = await Promise.all(replicas.map(({ counters }) => counters.read('honest')))
      await one.counters.increment('honest', 5)
      await other.counters.increment('honest', 2)
      one.channel.publish('news', Buffer.from('one'))
      other.channel.publish('news', Buffer.from('other'))
      one.take('key', 7)
      other.take('key', 4)
      await run(clock, 3_000)
      // a limiter has the units of others when it reports its own
      for (const replica of replicas) replica.take('key', 1)
      await run(clock, 1_000)
      const after = await Promise.all(replicas.map(({ counters }) => counters.read('honest')))
      expect(after[1].value).toBe(after[0].value)
      expect(after[0].value - before[0].value).toBe(7)
      expect(other.received.at(-1)).toBe('one')
      expect(one.received.at(-1)).toBe('other')
      // each may lack the last unit of the other
      for (const replica of replicas) expect([987, 988]).toContain(replica.remaining('key'))

      await run(clock, 2 * 3_600_000, 60_000)
      await run(clock, 60_000, 1_000)
      for (const replica of replicas) {
        expect(replica.sample('sluice_gossip_limit_keys{of="others"}')).toBeLessThan(20)
        // a majority of forged voters that is gone is not taken over, like any other majority
        if (attacker.hasVoters) continue
        expect(replica.sample('sluice_gossip_replicas')).toBeLessThan(20)
        expect(replica.sample('sluice_gossip_counter_replicas{state="dead"}')).toBe(0)
      }
    }))
})
