import { describe, expect, test } from '@jest/globals'
import { type LeaseGrant, type LeaseRequest, LeasingBackend, MemoryLedger } from '@sluice/fleet/leases'
import { createLimiter, type Decision, memoryBackend } from '@sluice/limiter-core'
import { FakeClock, Warnings, Watcher } from '@sluice/testkit'
import { settled } from '../../leases/settled.ts'

const terms = { fraction: 0.1, leaseMs: 2_000 }

/** A limiter that leases from a ledger whose answers are released by the test. */
class Bench {
  readonly clock = new FakeClock({ nowMs: 1_000 })
  readonly watcher = new Watcher()
  readonly ledger = new MemoryLedger('ledger', memoryBackend({ clock: this.clock }), terms, () => this.clock.now())
  #waiting: (() => void)[] = []
  answers = true

  limiter() {
    const ask = (asks: readonly LeaseRequest[]): Promise<readonly LeaseGrant[]> =>
      new Promise((resolve) => {
        this.#waiting.push(() => resolve(this.ledger.request(asks)))
        if (this.answers) this.release()
      })
    const backend = new LeasingBackend({
      name: 'leased',
      exact: this.ledger,
      ledger: { request: ask },
      terms,
      clock: this.clock,
    })
    return createLimiter({
      policies: [{ name: 'minute', limit: 1_000, window: '1m', algorithm: 'fixed-window' }],
      backend,
      clock: this.clock,
      observers: [this.watcher],
    })
  }

  release(): void {
    for (const answer of this.#waiting.splice(0)) answer()
  }

  breaker(): unknown[] {
    return this.watcher.events.filter(({ name }) => name === 'breaker').map(({ data }) => data.state)
  }
}

function warned<T>(run: () => Promise<T>): Promise<T> {
  const warnings = new Warnings()
  warnings.listen()
  return run().finally(() => warnings.stop())
}

describe('an answer that arrives 4 ms after the deadline', () => {
  test.each([
    ['at once', 0],
    ['one after the other', 0.2],
  ])('opens no breaker, even if twenty requests wait for it that came %s', (_how, everyMs) =>
    warned(async () => {
      const bench = new Bench()
      const limiter = bench.limiter()
      bench.answers = false
      const waiting: Promise<Decision>[] = []
      for (let waits = 0; waits < 20; waits++) {
        waiting.push(Promise.resolve(limiter.take('key')))
        bench.clock.advance(everyMs)
      }
      await settled()
      bench.clock.advance(54)
      expect((await Promise.all(waiting)).map(({ source }) => source)).toEqual(Array(20).fill('local'))
      bench.answers = true
      bench.release()
      await settled()
      expect(bench.breaker()).toEqual([])
      expect((await limiter.take('key')).source).toBe('leased')
    }),
  )
})

test('a ledger that answers no request for 250 ms opens it', () =>
  warned(async () => {
    const bench = new Bench()
    const limiter = bench.limiter()
    bench.answers = false
    for (let ms = 0; ms < 400; ms += 10) {
      void limiter.take('key')
      await settled()
      bench.clock.advance(10)
    }
    await settled()
    expect(bench.breaker()).toEqual(['open'])
  }))

test('while the breaker is open leased units are spent first, then the rule applies', () =>
  warned(async () => {
    const bench = new Bench()
    const limiter = bench.limiter()
    for (let takes = 0; takes < 200; takes++) await limiter.take('key')
    bench.answers = false
    for (let ms = 0; ms < 800; ms += 10) {
      void limiter.take('another key')
      await settled()
      bench.clock.advance(10)
    }
    expect(bench.breaker()[0]).toBe('open')
    const sources: string[] = []
    for (let takes = 0; takes < 150; takes++) sources.push((await limiter.take('key')).source)
    const held = sources.indexOf('local')
    expect(held).toBeGreaterThan(5)
    expect(sources.slice(0, held)).toEqual(Array(held).fill('leased'))
    expect(sources.slice(held)).toEqual(Array(150 - held).fill('local'))
  }))
