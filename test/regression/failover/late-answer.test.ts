import { describe, expect, test } from '@jest/globals'
import { type AlgorithmName, type Answer, type Backend, createLimiter, memoryBackend } from '@sluice/limiter-core'
import { FakeClock } from '@sluice/testkit'
import { frontBackend } from '../../contracts/front-backend.ts'

const LIMIT = 100
const DEADLINE_MS = 50

/**
 * A backend that counts requests at once, unless they are lost, and whose answers arrive when the test releases them.
 */
function slowWay() {
  const clock = new FakeClock({ nowMs: 1_000 })
  const underWay: (() => void)[] = []
  let losing = false
  const answers = (count: () => Answer): Promise<Answer> => {
    if (losing) return new Promise(() => {})
    const answer = count()
    return new Promise((resolve) => underWay.push(() => resolve(answer)))
  }
  const backend: Backend = {
    ...frontBackend('slow', memoryBackend({ clock }), answers),
    interrupted: () => () => {},
    mayHaveLost: () => false,
  }
  const arrive = async (): Promise<void> => {
    for (const come of underWay.splice(0)) come()
    await settled()
  }
  return {
    clock,
    backend,
    arrive,
    loses: (value: boolean) => {
      losing = value
    },
  }
}

function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

describe.each<AlgorithmName>(['fixed-window', 'sliding-window', 'sliding-log', 'token-bucket', 'gcra'])(
  'a take with %s whose answer is late',
  (algorithm) => {
    async function scene() {
      const way = slowWay()
      const policies = [{ name: 'year', limit: LIMIT, window: '365d', algorithm }] as const
      const limiter = createLimiter({ policies, backend: way.backend, clock: way.clock, deadlineMs: DEADLINE_MS })
      const first = limiter.take('key', 5)
      await way.arrive()
      await first
      const used = async (): Promise<number> => {
        // sends usage that the backend may lack
        for (const ask of [() => limiter.take('key', 0), () => limiter.take('key', 0)]) {
          const asked = ask()
          await way.arrive()
          await asked
        }
        const seen = limiter.peek('key')
        await way.arrive()
        return LIMIT - (await seen).binding.remaining
      }
      return { way, limiter, used }
    }

    test.each([false, true])('is counted once if another take was in flight behind it (lost: %s)', async (lost) => {
      const { way, limiter, used } = await scene()
      way.loses(lost)
      const late = limiter.take('key', 3)
      way.loses(false)
      way.clock.advance(DEADLINE_MS - 10)
      const behind = limiter.take('key', 1)
      way.clock.advance(10)
      expect(await late).toMatchObject({ allowed: true, counted: false })
      await way.arrive()
      expect(await behind).toMatchObject({ allowed: true, counted: true })
      expect(await used()).toBe(9)
    })

    test('is counted once if a refund was in flight behind it', async () => {
      const { way, limiter, used } = await scene()
      const before = limiter.take('key', 10)
      await way.arrive()
      const taken = await before
      const late = limiter.take('key', 3)
      way.clock.advance(DEADLINE_MS - 10)
      const behind = limiter.charge('key', -4, taken)
      way.clock.advance(10)
      await late
      await way.arrive()
      await behind
      expect(await used()).toBe(14)
    })

    test('is counted once if the call that reported it was late, too', async () => {
      const { way, limiter, used } = await scene()
      const late = limiter.take('key', 3)
      way.clock.advance(DEADLINE_MS)
      await late
      const teller = limiter.take('key', 2)
      way.clock.advance(DEADLINE_MS - 10)
      const behind = limiter.take('key', 1)
      way.clock.advance(10)
      await teller
      await way.arrive()
      await behind
      expect(await used()).toBe(11)
    })
  },
)
