import { createLimiter, type Decision, type Limiter, type PolicyInput } from '@sluice/limiter-core'
import { type SeededRandom, seededRandom } from '@sluice/testkit'
import { scene } from '../scene.ts'

const [maxBytes, others, seed, ...counts] = process.argv.slice(1)
const budget = Number(maxBytes)
const LIMIT = 31

interface Width {
  readonly policy: PolicyInput
  /** Cells per slot. */
  readonly bytes: number
}

/** Forty cell counts, from 1 to 130. */
const WIDTHS: readonly Width[] = [
  width(1, { algorithm: 'gcra', limit: LIMIT, window: '1m' }),
  width(2, { algorithm: 'token-bucket', limit: LIMIT, window: '1m' }),
  width(4, { algorithm: 'sliding-window', limit: LIMIT, window: '1m' }),
  ...several(36, (slices) => width(slices + 2, { algorithm: 'sliding-window', limit: LIMIT, window: '1m', slices })),
  width(130, { algorithm: 'sliding-log', limit: 128, window: '1m' }),
]

function width(cells: number, policy: PolicyInput): Width {
  return { policy, bytes: 12 + 8 * cells }
}

function several(count: number, make: (slices: number) => Width): Width[] {
  return Array.from({ length: count }, (_, index) => make(index + 3))
}

function inSomeOrder<T>(list: readonly T[], random: SeededRandom): T[] {
  const left = [...list]
  return list.map(() => left.splice(random.whole(left.length), 1)[0])
}

/** A policy that is added last, after others have filled the budget one after the other. */
function late(count: number, random: SeededRandom): object {
  const { backend, clock } = scene([{ limit: 1, window: '1s' }], budget)
  const widths = inSomeOrder(WIDTHS, random).slice(0, count)
  const limiters: Limiter<Decision>[] = widths.map(({ policy }, index) =>
    createLimiter({ policies: [policy as never], backend, clock, scope: `width ${index}` }),
  )
  let flooded = 0
  const flood = (index: number): void => {
    for (let key = budget / widths[index].bytes; key > 0; key--) limiters[index].take(`flood-${flooded++}`, 2)
    if (others === 'expired') clock.advance(3 * 60_000)
  }
  for (let index = 0; index < count - 1; index++) flood(index)
  const { bytes, policy } = widths[count - 1]
  const last = limiters[count - 1]
  const { limit } = policy
  // while others are active it has an equal share, else everything; a table is certain to hold a third of two pages
  const keys = Math.floor((0.35 * budget) / (others === 'expired' ? 1 : count) / bytes)
  let passed = 0
  let quiet = 0
  for (let ask = 1; ask <= 5 * limit; ask++) {
    if (last.take('client').allowed) passed++
    while (quiet < (ask * keys) / 5 / limit) last.take(`quiet-${quiet++}`)
  }
  if (others === 'live') for (let index = 0; index < count - 1; index++) flood(index)
  let lost = 0
  for (let key = 0; key < quiet; key++) if (last.peek(`quiet-${key}`).verdicts[0].remaining !== limit - 1) lost++
  return { count, bytes, keys, lost, above: passed - limit }
}

const random = seededRandom(Number(seed))
console.log(JSON.stringify(counts.map((count) => late(Number(count), random))))
