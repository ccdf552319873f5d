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
  test('opens at the tenth failure in a row, however quickly the failures follow each other', () => {
    const { breaker, states } = breakerOf()
    for (let failed = 0; failed < 9; failed++) breaker.failed()
    expect([breaker.state, breaker.admits(), states]).toEqual(['closed', true, []])
    breaker.failed()
    expect([breaker.state, breaker.admits(), states]).toEqual(['open', false, ['open']])
  })

  test('opens at the second failure in a row if it follows 250 ms after the first', () => {
    const { breaker, clock } = breakerOf()
    breaker.failed()
    clock.advance(249)
    breaker.failed()
    expect(breaker.state).toBe('closed')
    clock.advance(1)
    breaker.failed()
    expect(breaker.state).toBe('open')
  })

  test('resets its failure count on a success', () => {
    const { breaker, clock } = breakerOf()
    for (let round = 0; round < 20; round++) {
      for (let failed = 0; failed < 9; failed++) breaker.failed()
      breaker.succeeded()
      clock.advance(1_000)
    }
    expect(breaker.state).toBe('closed')
  })

  test('never requests a probe', () => {
    const { breaker, clock } = breakerOf()
    clock.advance(10_000)
    expect(breaker.mayProbe()).toBe(false)
  })
})

describe('an open breaker', () => {
  test('requests one probe a second, the first one a second after it opened', () => {
    const { breaker, clock } = opened()
    let probes = 0
    for (let ms = 0; ms < 5_500; ms += 10) {
      if (breaker.mayProbe()) probes++
      expect(breaker.admits()).toBe(false)
      clock.advance(10)
    }
    expect(probes).toBe(5)
  })

  test('requests a probe at once when the connection to the backend is restored', () => {
    const { breaker } = opened()
    expect(breaker.mayProbe()).toBe(false)
    breaker.probeSoon()
    expect([breaker.mayProbe(), breaker.mayProbe()]).toEqual([true, false])
  })

  test('allows one trial call after a probe that was answered in time', () => {
    const { breaker, states } = opened()
    breaker.probed(50)
    expect([breaker.admits(), breaker.admits(), states]).toEqual([true, false, ['half-open']])
  })

  test('stays open after a late probe, and requests another at once if the process was stalled during the probe', () => {
    const { breaker, clock, states } = opened()
    clock.advance(1_000)
    expect(breaker.mayProbe()).toBe(true)
    breaker.probed(51)
    expect(breaker.mayProbe()).toBe(false)
    breaker.probed(1_000)
    expect([breaker.mayProbe(), states]).toEqual([true, []])
  })

  test('uses the deadline of the caller that sent the probe', () => {
    const { breaker } = opened()
    breaker.probed(200, 200)
    expect(breaker.state).toBe('half-open')
  })
})

describe('a half-open breaker', () => {
  test('closes when its trial call succeeds', () => {
    const { breaker, states } = opened()
    breaker.probed(1)
    breaker.admits()
    breaker.succeeded()
    expect([breaker.state, breaker.admits(), breaker.admits()]).toEqual(['closed', true, true])
    expect(states).toEqual(['half-open', 'closed'])
  })

  test('opens again for a second when its trial call fails', () => {
    const { breaker, clock } = opened()
    breaker.probed(1)
    breaker.admits()
    breaker.failed()
    clock.advance(999)
    expect([breaker.state, breaker.mayProbe()]).toEqual(['open', false])
    clock.advance(1)
    expect(breaker.mayProbe()).toBe(true)
  })

  test('requests a probe at once when its first trial call is late, and a second later when a further one is', () => {
    const { breaker, clock } = opened()
    const lateTrial = (): void => {
      breaker.probed(1)
      breaker.admits()
      breaker.failed(clock.now(), true)
    }
    lateTrial()
    expect([breaker.state, breaker.mayProbe(), breaker.mayProbe()]).toEqual(['open', true, false])
    for (let further = 0; further < 3; further++) {
      lateTrial()
      clock.advance(999)
      expect([breaker.state, breaker.mayProbe()]).toEqual(['open', false])
      clock.advance(1)
      expect(breaker.mayProbe()).toBe(true)
    }
    breaker.probed(1)
    breaker.admits()
    breaker.succeeded()
    for (let failed = 0; failed < 10; failed++) breaker.failed(clock.now(), true)
    expect(breaker.mayProbe()).toBe(false)
    lateTrial()
    expect(breaker.mayProbe()).toBe(true)
  })

  test('is not affected by a probe that is answered later', () => {
    const { breaker, states } = opened()
    breaker.probed(1)
    breaker.probed(1)
    breaker.admits()
    breaker.succeeded()
    breaker.probed(1)
    expect(states).toEqual(['half-open', 'closed'])
  })
})
