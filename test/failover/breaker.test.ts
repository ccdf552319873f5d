import { describe, expect, test } from '@jest/globals'
import { Breaker, type BreakerState } from '@sluice/limiter-core/backend'
import { FakeClock } from '@sluice/testkit'

function breakerOf() {
  const clock = new FakeClock({ nowMs: 1_000 })
  const states: BreakerState[] = []
  const breaker = new Breaker({ clock, deadlineMs: 50, changed: (state) => states.push(state) })
  return { clock, states, breaker }
}

function opened() {
  const bench = breakerOf()
  for (let failed = 0; failed < 10; failed++) bench.breaker.failed()
  bench.states.length = 0
  return bench
}

describe('a closed breaker', () => {
  test('opens at the tenth failure in a row, however fast they come', () => {
    const { breaker, states } = breakerOf()
    for (let failed = 0; failed < 9; failed++) breaker.failed()
    expect([breaker.state, breaker.admits(), states]).toEqual(['closed', true, []])
    breaker.failed()
    expect([breaker.state, breaker.admits(), states]).toEqual(['open', false, ['open']])
  })

  test('opens at the second failure in a row that comes 250 ms after the first', () => {
    const { breaker, clock } = breakerOf()
    breaker.failed()
    clock.advance(249)
    breaker.failed()
    expect(breaker.state).toBe('closed')
    clock.advance(1)
    breaker.failed()
    expect(breaker.state).toBe('open')
  })

  test('forgets failures at a success', () => {
    const { breaker, clock } = breakerOf()
    for (let round = 0; round < 20; round++) {
      for (let failed = 0; failed < 9; failed++) breaker.failed()
      breaker.succeeded()
      clock.advance(1_000)
    }
    expect(breaker.state).toBe('closed')
  })

  test('never asks for a probe', () => {
    const { breaker, clock } = breakerOf()
    clock.advance(10_000)
    expect(breaker.mayProbe()).toBe(false)
  })
})

describe('an open breaker', () => {
  test('asks for one probe a second, the first a second after it opened', () => {
    const { breaker, clock } = opened()
    let probes = 0
    for (let ms = 0; ms < 5_500; ms += 10) {
      if (breaker.mayProbe()) probes++
      expect(breaker.admits()).toBe(false)
      clock.advance(10)
    }
    expect(probes).toBe(5)
  })

  test('asks at once where the way to the backend is back', () => {
    const { breaker } = opened()
    expect(breaker.mayProbe()).toBe(false)
    breaker.probeSoon()
    expect([breaker.mayProbe(), breaker.mayProbe()]).toEqual([true, false])
  })

  test('lets one call through after a probe that was answered in time', () => {
    const { breaker, states } = opened()
    breaker.probed(50)
    expect([breaker.admits(), breaker.admits(), states]).toEqual([true, false, ['half-open']])
  })

  test('stays open after a probe that was answered late, and asks again at once where it waited out a stall', () => {
    const { breaker, clock, states } = opened()
    clock.advance(1_000)
    expect(breaker.mayProbe()).toBe(true)
    breaker.probed(51)
    expect(breaker.mayProbe()).toBe(false)
    breaker.probed(1_000)
    expect([breaker.mayProbe(), states]).toEqual([true, []])
  })

  test('takes the deadline of whoever probed', () => {
    const { breaker } = opened()
    breaker.probed(200, 200)
    expect(breaker.state).toBe('half-open')
  })
})

describe('a half-open breaker', () => {
  test('closes when its trial succeeds', () => {
    const { breaker, states } = opened()
    breaker.probed(1)
    breaker.admits()
    breaker.succeeded()
    expect([breaker.state, breaker.admits(), breaker.admits()]).toEqual(['closed', true, true])
    expect(states).toEqual(['half-open', 'closed'])
  })

  test('opens again when its trial fails, for a second', () => {
    const { breaker, clock } = opened()
    breaker.probed(1)
    breaker.admits()
    breaker.failed()
    clock.advance(999)
    expect([breaker.state, breaker.mayProbe()]).toEqual(['open', false])
    clock.advance(1)
    expect(breaker.mayProbe()).toBe(true)
  })

  test('is no matter to a probe that comes later', () => {
    const { breaker, states } = opened()
    breaker.probed(1)
    breaker.probed(1)
    breaker.admits()
    breaker.succeeded()
    breaker.probed(1)
    expect(states).toEqual(['half-open', 'closed'])
  })
})
