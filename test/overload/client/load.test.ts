import { describe, expect, test } from '@jest/globals'
import { type ThrottledOptions, throttled } from '@sluice/overload'
import { FakeClock, seededRandom } from '@sluice/testkit'

const SEED = 20261127

/** Calls per second of an upstream that accepts `capacity` of them, and how many were sent and accepted. */
class Service {
  readonly clock = new FakeClock()
  capacity = Number.POSITIVE_INFINITY
  sent = 0
  accepted = 0
  #left = 0
  readonly #call: () => Promise<void>

  constructor(options: ThrottledOptions<[], void> = {}) {
    const random = seededRandom(SEED)
    this.#call = throttled(() => this.#serve(), { clock: this.clock, random: () => random.next(), ...options })
  }

  /** Plays `seconds` with 100 calls per second. */
  async play(seconds: number): Promise<{ sent: number; accepted: number }> {
    const before = { sent: this.sent, accepted: this.accepted }
    for (let tick = 0; tick < seconds * 100; tick++) {
      if (tick % 100 === 0) this.#left = this.capacity
      await this.#call().catch(() => {})
      this.clock.advance(10)
    }
    return { sent: (this.sent - before.sent) / seconds, accepted: (this.accepted - before.accepted) / seconds }
  }

  async #serve(): Promise<void> {
    this.sent++
    if (this.#left < 1) throw new Error('503')
    this.#left--
    this.accepted++
  }
}

describe(`the load of a throttled client that is called 100 times per second (seed ${SEED})`, () => {
  test('is sent completely while the upstream accepts half of it', async () => {
    const service = new Service()
    service.capacity = 50
    await service.play(120)
    expect((await service.play(60)).sent).toBeGreaterThan(95)
  })

  test.each([20, 10, 5])('falls to about twice what the upstream accepts: %d per second', async (capacity) => {
    const service = new Service()
    await service.play(120)
    service.capacity = capacity
    await service.play(300)
    const { sent, accepted } = await service.play(120)
    process.stdout.write(`capacity ${capacity}: sent ${sent.toFixed(1)}, accepted ${accepted.toFixed(1)} per second\n`)
    expect(sent).toBeGreaterThan(capacity * 1.7)
    expect(sent).toBeLessThan(capacity * 2.3)
    expect(accepted).toBeGreaterThan(capacity * 0.8)
  })

  test('falls to one request per second while the upstream accepts nothing', async () => {
    const service = new Service()
    await service.play(120)
    service.capacity = 0
    await service.play(300)
    const { sent } = await service.play(60)
    expect(sent).toBeGreaterThan(0.9)
    expect(sent).toBeLessThan(1.2)
  })

  test.each([
    ['2m', 350],
    ['10s', 40],
  ] as const)('grows again after an outage with a window of %s, within %d seconds', async (window, seconds) => {
    const service = new Service({ window })
    service.capacity = 0
    await service.play(300)
    service.capacity = Number.POSITIVE_INFINITY
    let passed = 0
    while ((await service.play(5)).sent < 90) passed += 5
    process.stdout.write(`window ${window}: 90 % is sent again after ${passed} s\n`)
    expect(passed).toBeLessThanOrEqual(seconds)
    await service.play(180)
    expect((await service.play(10)).sent).toBe(100)
  })

  test('is sent completely below minRequests', async () => {
    const service = new Service({ minRequests: 1_000 })
    service.capacity = 0
    expect((await service.play(9)).sent).toBe(100)
  })
})
