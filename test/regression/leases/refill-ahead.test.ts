import { expect, test } from '@jest/globals'
import { Budget, type Spender } from '../../../packages/limiter-core/src/memory/budget.ts'

const PAGE = 1_000
const PAGES = 300
const TICK = 2

/** Live keys alone: gives a page for each step that is asked of it. */
class Pages implements Spender {
  readonly pageBytes = PAGE
  steps = 0
  #pages = 0
  readonly #budget: Budget

  constructor(budget: Budget) {
    this.#budget = budget
    budget.join(this)
  }

  get bytes(): number {
    return this.#pages * PAGE
  }

  add(pages: number): void {
    this.#pages += pages
    this.#budget.spend(pages * PAGE)
  }

  release(): boolean {
    return false
  }

  shrink(): boolean {
    this.steps++
    this.add(-1)
    return true
  }
}

// once a look for expired keys had found nothing, nobody gave way for the next 128 keys of the same tick: then the
// reserve was spent, and the take that grew next waited for all that others had to move, of up to 33,693 keys
test('what is taken of the reserve is claimed again by the keys that follow, also within one tick', () => {
  const budget = new Budget(PAGES * PAGE)
  const large = new Pages(budget)
  const late = new Pages(budget)
  late.add(1)
  large.add(PAGES - 1 - 6)
  // looks for expired keys, and finds none
  expect(budget.grant(large, 4, TICK)).toBe(0)
  for (let growth = 0; growth < 20; growth++) {
    large.steps = 0
    const pages = budget.grant(late, 4, TICK)
    expect({ growth, pages, steps: large.steps }).toEqual({ growth, pages: 4, steps: 0 })
    late.add(pages)
    for (let key = 0; key < 4; key++) budget.refill(TICK, late)
    expect(budget.isLow).toBe(false)
  }
})
