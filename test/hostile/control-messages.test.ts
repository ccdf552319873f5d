import { afterEach, describe, expect, test } from '@jest/globals'
import { createInsight, type Insight } from '@sluice/insight'
import { createInflightLimiter, createLimiter, type Decision, type Limiter, memoryBackend } from '@sluice/limiter-core'
import { eachSeed, FakeClock, type SeededRandom } from '@sluice/testkit'
import { ControlCipher } from '../../packages/insight/src/control/control-cipher.ts'
import { Hub } from '../sketches/fleet/hub.ts'
import { hostileValue } from './hostile-value.ts'

const TOPIC = 'sluice.insight.control'
const SECRET = 'a secret of all processes'
const HOUR = 3_600_000
const BIG = Number.MAX_SAFE_INTEGER
/** Real time of the slowest message, in ms. */
const SLOW_MS = 2_000
const MESSAGES = 120
const cipher = new ControlCipher(SECRET, TOPIC)
const open: Insight[] = []

afterEach(async () => {
  await Promise.all(open.splice(0).map((insight) => insight.close()))
})

interface Process {
  readonly insight: Insight
  readonly limiter: Limiter<Decision>
  readonly limitOf: () => number
}

function started(hub: Hub, clock: FakeClock): Process {
  const insight = createInsight({
    clock,
    channel: hub.join(),
    secret: SECRET,
    control: {
      limits: { api: { min: 1, max: 10_000 }, log: { min: 1, max: 32 } },
      caps: { uploads: { min: 1, max: 9 } },
    },
  })
  open.push(insight)
  const shared = { clock, observers: [insight] }
  const limits = { ...shared, backend: memoryBackend({ clock }) }
  const limiter = createLimiter({
    ...limits,
    policies: [{ name: 'api', limit: 50, window: '1h', algorithm: 'sliding-window' }],
  })
  createLimiter({ ...limits, policies: [{ name: 'log', limit: 20, window: '1m', algorithm: 'sliding-log' }] })
  createInflightLimiter({ ...shared, name: 'uploads', limit: 3 })
  return { insight, limiter, limitOf: () => limiter.peek('honest').binding.policy.limit }
}

class Attacker {
  readonly #random: SeededRandom
  readonly #recorded: readonly Uint8Array[]
  readonly #clock: FakeClock
  #ids = 0

  constructor(random: SeededRandom, recorded: readonly Uint8Array[], clock: FakeClock) {
    this.#random = random
    this.#recorded = recorded
    this.#clock = clock
  }

  message(): Uint8Array {
    const random = this.#random
    const kind = random.whole(8)
    const recorded = random.pick(this.#recorded)
    if (kind === 0) return Buffer.from(Array.from({ length: random.whole(200) }, () => random.whole(256)))
    if (kind === 1) return recorded.subarray(0, random.whole(recorded.length))
    if (kind === 2) return recorded
    if (kind === 3) return cipher.seal(random.pick(['', '[', 'null', '1', '{}', '['.repeat(200_000), '[[]]', '[null]']))
    if (kind === 4) return cipher.seal(JSON.stringify(hostileValue(random)))
    // one malformed change is enough for a message to be ignored
    const isWellFormed = random.whole(3) > 0
    const length = random.pick([1, 3, 99, 100, 101])
    return cipher.seal(JSON.stringify(Array.from({ length }, () => this.#change(isWellFormed))))
  }

  #change(isWellFormed: boolean): unknown {
    const random = this.#random
    if (!isWellFormed && random.whole(10) === 0) return hostileValue(random)
    const now = this.#clock.wall()
    const fields: Record<string, unknown> = {
      id: random.whole(10) > 0 ? `hostile ${this.#ids++}` : random.pick(['', '__proto__']),
      change: this.#action(isWellFormed),
      at: random.pick([now, 0, now + 24 * HOUR, BIG, now + 0.5]),
      endsAt: random.whole(3) > 0 ? now + 24 * HOUR : random.pick([now + 60_000, now, 0, BIG, now + 0.001]),
      by: random.pick(['x', this.#text(), '\u2028\u202e']),
      reason: 'y',
      ...(random.whole(3) === 0 && { undoneAt: random.pick([0, now, BIG]), undoneBy: 'z' }),
    }
    if (!isWellFormed && random.whole(8) === 0) fields[random.pick(Object.keys(fields))] = hostileValue(random)
    return fields
  }

  #text(): string {
    return 'x'.repeat(this.#random.whole(20) === 0 ? 4_096 : 10)
  }

  #action(isWellFormed: boolean): unknown {
    const random = this.#random
    const policies = ['log', '__proto__', 'toString', '', this.#text(), `policy ${random.whole(1_000)}`]
    const target = random.pick([{ policy: random.pick(policies) }, { cap: random.pick(['uploads', 'other']) }])
    const of = 'cap' in target ? 'cap ' : ''
    const key = random.pick(['key', '', '\0', '\ud800', this.#text(), `key ${random.whole(1_000)}`])
    return random.pick([
      { action: `${of}mode`, ...target, mode: random.pick(['enforce', 'shadow', 'off', 'on']) },
      {
        action: `${of}limit`,
        ...target,
        limit: random.pick([1, 9, 32, 33, BIG, ...(isWellFormed ? [] : [0, 1.5, -1])]),
      },
      { action: `${of}block`, ...target, key },
      { action: 'block', key },
      { action: 'reset', ...target, key },
      { action: 'sent' },
      isWellFormed ? { action: 'later' } : hostileValue(random),
    ])
  }
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve))
}

describe('control messages of an attacker that has the secret', () => {
  test('do not crash or block processes, or stop later changes of operators', () =>
    eachSeed(2, async (random) => {
      const clock = new FakeClock({ wallMs: 1_700_000_000_000 })
      const hub = new Hub()
      const spy = hub.join()
      const recorded: Uint8Array[] = []
      const unsubscribe = spy.subscribe(TOPIC, (bytes) => void recorded.push(bytes))
      const processes = [started(hub, clock), started(hub, clock)]
      const [one, other] = processes
      const honest = await one.insight.control({ action: 'limit', policy: 'api', limit: 40, duration: '24h' })
      unsubscribe()
      expect(other.limitOf()).toBe(40)

      const attacker = new Attacker(random, recorded, clock)
      let slowestMs = 0
      for (let n = 0; n < MESSAGES; n++) {
        const from = performance.now()
        await spy.publish(TOPIC, attacker.message())
        if (n % 10 === 0) clock.advance(1_000)
        slowestMs = Math.max(slowestMs, performance.now() - from)
        for (const { limiter } of processes) limiter.take(random.pick(['honest', 'key', 'other']))
        await turns()
      }
      expect(slowestMs).toBeLessThan(SLOW_MS)
      for (const { insight } of processes) {
        expect(insight.controls().length).toBeLessThanOrEqual(200)
        expect(insight.audit().length).toBeLessThanOrEqual(200)
        JSON.stringify([insight.snapshot(), insight.controls(), insight.audit()])
      }

      // an operator undoes what the attacker began, and then makes a change
      for (const { insight } of processes) {
        for (const { id } of insight.controls()) if (id !== honest.id) await insight.undo(id)
      }
      clock.advance(61_000)
      await turns()
      expect(processes.map(({ limitOf }) => limitOf())).toEqual([40, 40])
      await one.insight.control({ action: 'limit', policy: 'api', limit: 30 })
      const { id } = await other.insight.control({ action: 'block', key: 'villain' })
      clock.advance(2_000)
      await turns()
      expect(processes.map(({ limitOf }) => limitOf())).toEqual([30, 30])
      expect(processes.map(({ limiter }) => limiter.take('villain').allowed)).toEqual([false, false])
      await one.insight.undo(id)
      clock.advance(2_000)
      expect(processes.map(({ limiter }) => limiter.take('villain').source)).not.toContain('blocked')
    }))
})
