import { expect, test } from '@jest/globals'
import { type Backend, memoryBackend } from '@sluice/limiter-core'
import { eachSeed } from '@sluice/testkit'
import { frontBackend } from '../../contracts/front-backend.ts'
import { limitCases } from './scenes.ts'
import { play } from './virtual-upstream.ts'

/** Largest share of refusals of all seeds, and of one: a bucket without `RateLimit` is learned from several refusals. */
const [MOST, MOST_OF_ONE] = [0.01, 0.013]

test.each([...limitCases])(
  'two processes use $name with $fields, and are hardly refused',
  async ({ shape, announce }) => {
    const all = { accepted: 0, refused: 0 }
    await eachSeed(12, async (_random, seed) => {
      let shared: Backend | undefined
      const { accepted, refused, perCaller, rejected } = await play({
        limit: 100,
        windowMs: 60_000,
        callers: 50,
        processes: 2,
        minutes: 10,
        announce,
        ...shape,
        seed,
        optionsOf: (clock) => {
          shared ??= frontBackend('shared', memoryBackend({ clock }), async (ask) => ask())
          return { backend: shared }
        },
      })
      expect(refused / (accepted + refused)).toBeLessThanOrEqual(MOST_OF_ONE)
      expect(accepted).toBeGreaterThanOrEqual(970)
      expect(Math.min(...perCaller)).toBeGreaterThanOrEqual(16)
      expect(rejected).toBe(0)
      all.accepted += accepted
      all.refused += refused
    })
    expect(all.refused / (all.accepted + all.refused)).toBeLessThanOrEqual(MOST)
  },
)
