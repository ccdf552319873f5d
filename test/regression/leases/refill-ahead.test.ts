import { expect, test } from '@jest/globals'
import { Budget, type Spender } from '../../../packages/limiter-core/src/memory/budget.ts'

const PAGE = 1_000
const PAGES = 300
const TICK = 2

/** Live keys only: releases a page for each requested step. */
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

// regression: once a search for expired keys had found none, no page was released for the next 128 keys of the same
// tick; then the reserve was empty, and the take that needed a page waited until up to 33,693 keys had been moved
test('the reserve is refilled by the keys that follow, even within one tick', () => {
  const budget = new Budget(PAGES * PAGE)
  const large = new Pages(budget)
  const late = new Pages(budget)
  late.add(1)
  large.add(PAGES - 1 - 6)
  // searches for expired keys, and finds none
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
