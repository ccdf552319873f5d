import { describe, expect, test } from '@jest/globals'
import { createLimiter, type Decision, type Limiter, memoryBackend, type PolicyInput } from '@sluice/limiter-core'
import { eachSeed, FakeClock, type SeededRandom } from '@sluice/testkit'
import { BanModel, banOf, type ModelTerms } from './model.ts'

const KEYS = ['a', 'b', '__proto__', '']
const STEPS = 1_500

function randomTerms(random: SeededRandom): ModelTerms {
  const forMs = 1 + random.whole(120_000)
  return {
    after: 1 + random.whole(6),
    withinMs: 1 + random.whole(60_000),
    forMs,
    growth: random.pick([1, 1.0001, 1.1, 1.5, 2, 10, 1e9]),
    maxMs: forMs * (1 + random.whole(50)),
    extend: random.whole(3) === 0,
  }
}

/** Compares a limiter with the model, whose limit is counted by a limiter without bans. */
function compare(random: SeededRandom): void {
  const clock = new FakeClock({ nowMs: random.whole(1e9) })
  const terms = randomTerms(random)
  const policy: PolicyInput = { name: 'api', limit: 1 + random.whole(3), window: '10s' }
  const backend = memoryBackend({ clock })
  const limiters = [1, 2].map(() =>
    createLimiter({ policies: [{ ...policy, ban: banOf(terms) }], backend, clock, shared: true }),
  ) as Limiter<Decision>[]
  const plain = createLimiter({ policies: [policy], backend: memoryBackend({ clock }), clock }) as Limiter<Decision>
  const model = new BanModel(terms)
  for (let step = 0; step < STEPS; step++) {
    const key = random.pick(KEYS)
    const limiter = random.pick(limiters)
    const now = clock.now()
    const kind = random.whole(40)
    if (kind === 0) {
      void limiter.reset(key)
      void plain.reset(key)
      model.reset(key)
    } else if (kind === 1) {
      void limiter.report(key, 'success')
      model.forgive(key)
    } else {
      const peeked = terms.extend ? undefined : limiter.peek(key)
      const taken = limiter.take(key)
      const restMs = model.requested(key, now)
      const counted = restMs > 0 ? undefined : plain.take(key)
      const begunMs = counted?.allowed === false ? model.strike(key, now) : 0
      // a ban that is shorter than the wait of the limit ends with it
      const expected = Math.max(restMs, begunMs, (counted ?? plain.peek(key)).retryAfterMs)
      expect([taken.allowed, taken.retryAfterMs, taken.source === 'banned']).toEqual([
        counted?.allowed ?? false,
        expected,
        restMs > 0,
      ])
      if (peeked && begunMs === 0) expect([peeked.allowed, peeked.retryAfterMs]).toEqual([taken.allowed, expected])
      if (counted?.allowed) expect(taken.binding.remaining).toBe(counted.binding.remaining)
    }
    const jump = random.whole(30) === 0 ? random.whole(terms.maxMs + 10) : random.whole(3_000)
    clock.advance(random.whole(2) === 0 ? 0 : jump)
  }
  for (const limiter of [...limiters, plain]) void limiter.close()
}

describe('bans', () => {
  test('agree with a plain model, for all kinds of terms', () => eachSeed(20, async (random) => compare(random)))
})
