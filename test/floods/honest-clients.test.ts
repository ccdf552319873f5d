import { describe, expect, test } from '@jest/globals'
import { everyAlgorithm, KIB, MIB, scene } from './scene.ts'

const LIMIT = 100
const WINDOW_MS = 60_000
const CLIENTS = 100

/** Denials of clients that evenly spend `part` of their limit in each of three windows, while new keys arrive. */
function denials(algorithm: (typeof everyAlgorithm)[number], part: number): number {
  const { limiter, clock } = scene([{ algorithm, limit: LIMIT, window: WINDOW_MS }], 64 * KIB)
  const asks = Math.floor(LIMIT * part)
  let denied = 0
  let flood = 0
  for (let ask = 0; ask < 3 * asks; ask++) {
    clock.advance(WINDOW_MS / asks)
    for (let client = 0; client < CLIENTS; client++) if (!limiter.take(`honest-${client}`).allowed) denied++
    for (let key = 0; key < 300; key++) limiter.take(`flood-${flood++}`)
  }
  return denied
}

describe.each(everyAlgorithm)('%s: a client', (algorithm) => {
  test.each([0.3, 0.6])('at %d of its limit is not denied once during a flood of light keys', (part) => {
    expect(denials(algorithm, part)).toBe(0)
  })
})

/** Returns the share of new clients that are denied after `spills` or more fully spent keys have been evicted. */
function newcomersDenied(maxBytes: number, spills: number): { spilled: number; denied: number } {
  const { limiter, clock, told } = scene([{ algorithm: 'fixed-window', limit: LIMIT, window: '1d' }], maxBytes)
  let keys = 0
  while (told.evicted === 0) limiter.take(`heavy-${keys++}`, LIMIT)
  while (told.spilled < spills) {
    // evictions are reported at most once a second
    clock.advance(1_000)
    limiter.take(`heavy-${keys++}`, LIMIT)
  }
  let denied = 0
  for (let key = 0; key < 5_000; key++) if (!limiter.peek(`new-${key}`).allowed) denied++
  return { spilled: told.spilled, denied: denied / 5_000 }
}

// four rows must agree before a new client is mistaken for a known one
test.each([256 * KIB, MIB])('new clients are mistaken for denied keys only by chance, with %d bytes', (maxBytes) => {
  const cells = Math.floor(maxBytes / 14 / 4 / 40)
  const rows = [0.38, 0.6, 1, 2, 4].map((part) => newcomersDenied(maxBytes, Math.round(part * cells)))
  console.log(
    '| displaced heavy keys | newcomers denied |\n',
    rows.map((row) => `| ${row.spilled} | ${(row.denied * 100).toFixed(2)} % |`).join('\n '),
  )
  for (const { spilled, denied } of rows) {
    const expected = (1 - Math.exp(-spilled / cells)) ** 4
    expect(denied).toBeLessThanOrEqual(1.5 * expected + 0.005)
  }
})
