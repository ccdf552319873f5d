import { describe, expect, test } from '@jest/globals'
import { FakeClock } from '@sluice/testkit'

describe('FakeClock', () => {
  test('does not advance on its own, and starts at the given time', () => {
    const clock = new FakeClock({ nowMs: 7, wallMs: 1_000 })
    expect([clock.now(), clock.now(), clock.wall()]).toEqual([7, 7, 1_000])
    expect(new FakeClock().wall()).toBe(Date.parse('2026-01-01T00:00:00Z'))
  })

  test('advances both readings by the same amount, and a step changes only the wall clock', () => {
    const clock = new FakeClock({ wallMs: 1_000 })
    clock.advance(2.5)
    clock.stepWall(-500)
    expect([clock.now(), clock.wall()]).toEqual([2.5, 502.5])
  })

  test('runs timers in order of their due times, and timers with equal times in the order they were set', () => {
    const clock = new FakeClock()
    const ran: [string, number][] = []
    for (const [name, ms] of [
      ['c', 30],
      ['a', 10],
      ['b', 20],
      ['b2', 20],
      ['late', 41],
    ] as const) {
      clock.after(ms, () => ran.push([name, clock.now()]))
    }
    clock.advance(40)
    expect(ran).toEqual([
      ['a', 10],
      ['b', 20],
      ['b2', 20],
      ['c', 30],
    ])
    expect([clock.now(), clock.pending]).toEqual([40, 1])
  })

  test('runs timers that other timers set, if they fall due within the same advance', () => {
    const clock = new FakeClock()
    const ran: number[] = []
    const tick = (): void => {
      ran.push(clock.now())
      clock.after(10, tick)
    }
    clock.after(10, tick)
    clock.advance(35)
    expect([ran, clock.pending]).toEqual([[10, 20, 30], 1])
  })

  test('reads exactly the target time on both clocks after an advance, whatever timers ran on the way', () => {
    const clock = new FakeClock()
    const wallMs = clock.wall()
    for (let part = 1; part < 1_000; part++) clock.after(59 * part + part / 997, () => {})
    clock.advance(60_000)
    expect([clock.now(), clock.wall() - wallMs]).toEqual([60_000, 60_000])
  })

  test('does not run a cancelled timer, and cancelling after the run has no effect', () => {
    const clock = new FakeClock()
    let ran = 0
    const cancel = clock.after(10, () => ran++)
    clock.after(5, () => cancel())
    clock.advance(20)
    cancel()
    expect([ran, clock.pending]).toEqual([0, 0])
  })

  test('runs a timer of 0 ms or less at the next advance, never synchronously', () => {
    const clock = new FakeClock({ nowMs: 100 })
    const ran: number[] = []
    clock.after(0, () => ran.push(clock.now()))
    clock.after(-5, () => ran.push(clock.now()))
    expect(ran).toEqual([])
    clock.advance(0)
    expect(ran).toEqual([100, 100])
  })

  test.each([-1, Number.NaN, Number.POSITIVE_INFINITY])('refuses to advance by %d', (ms) => {
    expect(() => new FakeClock().advance(ms)).toThrow(RangeError)
  })
})
