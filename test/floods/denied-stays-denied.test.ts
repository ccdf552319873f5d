import { describe, expect, test } from '@jest/globals'
import type { AlgorithmName, PolicyInput } from '@sluice/limiter-core'
import { capacityOf, everyAlgorithm, KIB, MIB, scene } from './scene.ts'

const WINDOW_MS = 600_000
const LIMIT = 100

const policyOf = (algorithm: AlgorithmName): PolicyInput => ({ algorithm, limit: LIMIT, window: WINDOW_MS })

interface Course {
  /** Units admitted for the attacker, request by request, after its limit was spent. */
  readonly admitted: boolean[]
  readonly freeAfterMs: number
}

/** An attacker spends its limit and sends a hundred requests while `flood` new keys arrive; then traffic stops. */
function course(policy: PolicyInput, maxBytes: number, flood: number, costOfFlood: number): Course {
  const { clock, limiter } = scene([policy], maxBytes)
  limiter.take('attacker', LIMIT)
  const admitted: boolean[] = []
  let keys = 0
  for (let ask = 0; ask < 100; ask++) {
    clock.advance((0.9 * WINDOW_MS) / 100)
    for (const upTo = (flood * (ask + 1)) / 100; keys < upTo; keys++) limiter.take(`flood-${keys}`, costOfFlood)
    admitted.push(limiter.take('attacker').allowed)
  }
  let freeAfterMs = 0
  while (!limiter.peek('attacker', LIMIT).allowed && freeAfterMs < 10 * WINDOW_MS) {
    clock.advance(1_000)
    freeAfterMs += 1_000
  }
  return { admitted, freeAfterMs }
}

const sum = (list: readonly boolean[], until: number) => list.slice(0, until).filter(Boolean).length

function expectNoGain(flooded: Course, alone: Course): void {
  flooded.admitted.forEach((_, at) => {
    expect(sum(flooded.admitted, at + 1)).toBeLessThanOrEqual(sum(alone.admitted, at + 1))
  })
}

describe.each(everyAlgorithm)('%s: a denied client', (algorithm) => {
  const policy = policyOf(algorithm)
  const alone = course(policy, 64 * MIB, 0, 1)

  test.each([64 * KIB, 1 * MIB])(
    'gets the same decisions under a light flood as without one, at %d bytes',
    (maxBytes) => {
      const flooded = course(policy, maxBytes, 10 * Math.min(8_000, capacityOf(policy, maxBytes)), 1)
      expect(flooded).toEqual(alone)
    },
  )

  test('gains nothing from a flood of keys that spend their limit, and is admitted within two windows after it', () => {
    const flooded = course(policy, 64 * KIB, 10 * capacityOf(policy, 64 * KIB), LIMIT)
    expectNoGain(flooded, alone)
    expect(flooded.freeAfterMs).toBeLessThanOrEqual(2 * WINDOW_MS + 1_000)
  })

  test('gains nothing from a flood of keys that spend half of their limit', () => {
    const flooded = course(policy, 64 * KIB, 10 * capacityOf(policy, 64 * KIB), LIMIT / 2)
    expectNoGain(flooded, alone)
  })
})

test('denied clients stay denied in a flood of keys that look like attackers (limit 1)', () => {
  for (const algorithm of everyAlgorithm) {
    const { limiter, clock } = scene([{ algorithm, limit: 1, window: WINDOW_MS }], 64 * KIB)
    for (let key = 0; key < 100; key++) limiter.take(`attacker-${key}`)
    for (let key = 0; key < 30_000; key++) limiter.take(`flood-${key}`)
    clock.advance(WINDOW_MS - 1)
    for (let key = 0; key < 100; key++) expect(limiter.take(`attacker-${key}`).allowed).toBe(false)
  }
})
