import { beforeEach, describe, expect, test } from '@jest/globals'
import { MemorySyncLedger, SyncingBackend, type SyncLedger, syncTermsOf } from '@sluice/fleet/sync'
import { createLimiter, type Decision, type Limiter, type Observer } from '@sluice/limiter-core'
import { FakeClock } from '@sluice/testkit'
import { afterThisTurn } from '../../../packages/limiter-core/src/time/clock.ts'

const NODES = 4
const SILENT_MS = 3_000
const LIMIT = 1_000

/** A ledger of two servers. The first has the even partitions, the second the odd ones, until one takes over. */
class TwoServers {
  readonly clock = new FakeClock()
  readonly down = new Set<string>()
  readonly #ledger = new MemorySyncLedger(this.clock)
  readonly #takenOver = new Map<string, string>()

  takeOver(server: string, by: string): void {
    this.#takenOver.set(server, by)
  }

  join(): SyncLedger {
    const joined = this.#ledger.join()
    const serverOf = (partition: number): string => {
      const server = partition % 2 === 0 ? 'even' : 'odd'
      return this.#takenOver.get(server) ?? server
    }
    return {
      ...joined,
      serverOf,
      exchange: (batch, deadlineAt) => {
        if (!this.down.has(serverOf(batch.partition))) return joined.exchange(batch, deadlineAt)
        return new Promise((_, reject) => {
          this.clock.after(deadlineAt - this.clock.now(), () => reject(new Error('no answer')))
        })
      },
    }
  }

  async pass(ms: number, stepMs = 10): Promise<void> {
    for (let passed = 0; passed < ms; passed += stepMs) {
      this.clock.advance(stepMs)
      await new Promise<void>((resolve) => afterThisTurn(resolve))
    }
  }
}

let servers: TwoServers
let limiter: Limiter<Decision>
let events: unknown[]
let even: string
let odd: string
let admitted: Map<string, number>

function build(source: 'local' | 'deny' = 'local'): void {
  const ledger = servers.join()
  const keys = Array.from({ length: 20 }, (_, index) => `key ${index}`)
  even = keys.find((key) => ledger.partitionOf(key) % 2 === 0) ?? ''
  odd = keys.find((key) => ledger.partitionOf(key) % 2 === 1) ?? ''
  const terms = syncTermsOf('test', { nodes: NODES, silentMs: SILENT_MS })
  const backend = new SyncingBackend({ name: 'synced', ledger, terms, rule: { source }, clock: servers.clock })
  const observer: Observer = {
    event: (event, { failed }) => {
      if (event === 'sync') events.push(failed)
    },
  }
  backend.observe(observer)
  const policies = [{ name: 'api', limit: LIMIT, window: '1h', algorithm: 'fixed-window', backend }] as const
  limiter = createLimiter({ policies, clock: servers.clock })
}

beforeEach(() => {
  servers = new TwoServers()
  events = []
  admitted = new Map()
})

function take(key: string): Decision {
  const decision = limiter.take(key)
  if (decision.allowed) admitted.set(key, (admitted.get(key) ?? 0) + 1)
  return decision
}

/** Takes once from both keys every 10 ms. */
async function drive(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 10) {
    take(even)
    take(odd)
    await servers.pass(10)
  }
}

const sources = (): string[] => [even, odd].map((key) => take(key).source)
const remaining = (key: string): number => limiter.peek(key).binding.remaining

describe('a ledger of two servers, one of which falls silent', () => {
  test('counts keys of the other server as before, and limits keys of the silent server to the local share', async () => {
    build()
    await drive(1_000)
    servers.down.add('odd')
    await drive(SILENT_MS + 1_000)
    expect(sources()).toEqual(['synced', 'local'])
    expect([take(even), take(odd)].map(({ counted }) => counted)).toEqual([true, false])
    // some 500 units of both keys were taken, and the other three nodes are assumed to have taken as many from the
    // silent one
    expect(remaining(even)).toBeGreaterThan(450)
    expect(remaining(odd)).toBeLessThan(100)
  })

  test('counts its keys again when it answers, including what was admitted meanwhile', async () => {
    build()
    servers.down.add('odd')
    await drive(SILENT_MS + 1_000)
    expect(events).toEqual(['Error: no answer'])
    servers.down.delete('odd')
    await servers.pass(2_000)
    expect(sources()).toEqual(['synced', 'synced'])
    expect(events).toEqual(['Error: no answer', false])
    for (const key of [even, odd]) expect(remaining(key)).toBe(LIMIT - (admitted.get(key) ?? 0))
  })

  test('is replaced by the other server, which then counts its keys', async () => {
    build()
    servers.down.add('odd')
    await drive(SILENT_MS + 1_000)
    servers.takeOver('odd', 'even')
    await servers.pass(2_000)
    expect(sources()).toEqual(['synced', 'synced'])
    await drive(SILENT_MS + 1_000)
    expect(sources()).toEqual(['synced', 'synced'])
    for (const key of [even, odd]) expect(remaining(key)).toBe(LIMIT - (admitted.get(key) ?? 0))
  })

  test('has only its own keys denied if the rule is deny', async () => {
    build('deny')
    servers.down.add('odd')
    await drive(SILENT_MS + 1_000)
    expect(sources()).toEqual(['synced', 'deny'])
    expect([limiter.peek(even), limiter.peek(odd)].map(({ allowed }) => allowed)).toEqual([true, false])
  })

  test('still refreshes busy keys of the other server at once', async () => {
    build()
    servers.down.add('odd')
    await drive(SILENT_MS)
    const before = remaining(even)
    // a quarter of the limit between two answers: this leaves time for each refresh
    for (let taken = 0; taken < 40; taken++) {
      for (let unit = 0; unit < 10; unit++) take(even)
      await servers.pass(60)
    }
    expect(before - remaining(even)).toBe(400)
  })
})
