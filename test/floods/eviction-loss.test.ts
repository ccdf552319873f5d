import { describe, expect, test } from '@jest/globals'
import { baseSeed, seededRandom } from '@sluice/testkit'
import { everyAlgorithm, KIB, scene } from './scene.ts'

const LIMIT = 100
// a fraction in 255ths, rounded up: below 128/255 a key is not remembered
const FORGOTTEN_AT_MOST = Math.floor((127 / 255) * LIMIT)

describe.each(everyAlgorithm)('%s: an eviction', (algorithm) => {
  const seed = baseSeed()
  const policy = { algorithm, limit: LIMIT, window: '1d' } as const

  test(`loses at most half a limit of a key, and nothing of a key that used more (seed ${seed})`, () => {
    const random = seededRandom(seed)
    const { limiter } = scene([policy], 64 * KIB)
    const asked = Array.from({ length: 500 }, () => 1 + random.whole(LIMIT))
    // denied units were not used; a full tail denies some by chance
    const used = asked.map((units, key) => (limiter.take(`key-${key}`, units).allowed ? units : 0))
    for (let key = 0; key < 10_000; key++) limiter.take(`flood-${key}`, LIMIT)
    used.forEach((units, key) => {
      const remembered = LIMIT - limiter.peek(`key-${key}`).verdicts[0].remaining
      if (units > FORGOTTEN_AT_MOST) expect(remembered).toBeGreaterThanOrEqual(units)
      else expect(units - remembered).toBeLessThanOrEqual(FORGOTTEN_AT_MOST)
    })
  })

  // each eviction of a key costs the attacker a whole table of keys that spent more than this key
  test('allows a key at most its limit plus half a limit for each eviction', () => {
    const { limiter } = scene([policy], 64 * KIB)
    let admitted = 0
    const floods = 5
    for (let flood = 0; flood <= floods; flood++) {
      for (let ask = 0; ask < LIMIT; ask++) {
        const before = limiter.peek('attacker').verdicts[0].remaining
        if (flood < floods && LIMIT - before >= FORGOTTEN_AT_MOST) break
        if (limiter.take('attacker').allowed) admitted++
      }
      if (flood < floods) for (let key = 0; key < 5_000; key++) limiter.take(`flood-${flood}-${key}`, LIMIT)
    }
    expect(admitted).toBeLessThanOrEqual(LIMIT + floods * FORGOTTEN_AT_MOST)
  })
})
