import { describe, expect, test } from '@jest/globals'
import { FakeClock } from '@sluice/testkit'

describe('FakeClock', () => {
  test('stands still, and starts where it is told to', () => {
    const clock = new FakeClock({ nowMs: 7, wallMs: 1_000 })
    expect([clock.now(), clock.now(), clock.wall()]).toEqual([7, 7, 1_000])
    expect(new FakeClock().wall()).toBe(Date.parse('2026-01-01T00:00:00Z'))
  })

  test('moves both readings by the same, and the wall alone by a step', () => {
    const clock = new FakeClock({ wallMs: 1_000 })
    clock.advance(2.5)
    clock.stepWall(-500)
    expect([clock.now(), clock.wall()]).toEqual([2.5, 502.5])
  })

  test('runs timers in the order of their times, each at its time, equal ones in the order they were set', () => {
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

  test('runs timers that were set on the way, if they fall due on it', () => {
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

  test('is at the very ms that it was moved to, by both readings, however timers fell due on the way', () => {
    const clock = new FakeClock()
    const wallMs = clock.wall()
    for (let part = 1; part < 1_000; part++) clock.after(59 * part + part / 997, () => {})
    clock.advance(60_000)
    expect([clock.now(), clock.wall() - wallMs]).toEqual([60_000, 60_000])
  })

  test('runs no cancelled timer, and a cancel after the run does nothing', () => {
    const clock = new FakeClock()
    let ran = 0
    const cancel = clock.after(10, () => ran++)
    clock.after(5, () => cancel())
    clock.advance(20)
    cancel()
    expect([ran, clock.pending]).toEqual([0, 0])
  })

  test('runs a timer of 0 ms or less at the next advance, never at once', () => {
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
