import { describe, expect, test } from '@jest/globals'
import { Deadlines } from '@sluice/limiter-core/backend'
import { eachSeed, FakeClock } from '@sluice/testkit'
import { settled } from './flaky-backend.ts'

const words = {
  answered: (value: string) => `came ${value}`,
  failed: (error: unknown) => `failed ${error}`,
  late: () => 'late',
}
const never = (): Promise<string> => new Promise(() => {})

function deadlines(ms = 50) {
  const clock = new FakeClock()
  return { clock, waits: new Deadlines(clock, ms) }
}

describe('Deadlines', () => {
  test('return the outcome if it arrives in time', async () => {
    const { waits } = deadlines()
    expect(await waits.race(Promise.resolve('a'), words)).toBe('came a')
    expect(await waits.race(Promise.reject('b'), words)).toBe('failed b')
    expect(waits.pending).toBe(0)
  })

  test('report a timeout at the deadline, and not a millisecond earlier', async () => {
    const { clock, waits } = deadlines()
    let answer = ''
    waits.race(never(), words).then((word) => {
      answer = word
    })
    clock.advance(49)
    await settled()
    expect(answer).toBe('')
    clock.advance(1)
    await settled()
    expect(answer).toBe('late')
  })

  test('ignore an outcome that arrives after the deadline', async () => {
    const { clock, waits } = deadlines()
    let come: (value: string) => void = () => {}
    const told: string[] = []
    const race = waits.race(
      new Promise<string>((resolve) => {
        come = resolve
      }),
      { answered: () => told.push('came'), failed: () => told.push('failed'), late: () => told.push('late') },
    )
    clock.advance(50)
    come('at last')
    await race
    await settled()
    expect(told).toEqual(['late'])
  })

  test('reject if the outcome handler throws, and no caller hangs', async () => {
    const { clock, waits } = deadlines()
    const thrown = (): never => {
      throw new Error('outcome')
    }
    const broken = { answered: thrown, failed: thrown, late: thrown }
    await expect(waits.race(Promise.resolve(1), broken)).rejects.toThrow('outcome')
    await expect(waits.race(Promise.reject(1), broken)).rejects.toThrow('outcome')
    const late = waits.race(never(), broken)
    clock.advance(50)
    await expect(late).rejects.toThrow('outcome')
  })

  test('keep one timer and nothing of finished waits, however many there were', async () => {
    const { clock, waits } = deadlines()
    for (let round = 0; round < 100; round++) {
      const races = Array.from({ length: 50 }, () => waits.race(Promise.resolve('a'), words))
      expect(clock.pending).toBe(1)
      await Promise.all(races)
      expect(waits.pending).toBe(0)
      clock.advance(round % 7)
    }
    clock.advance(50)
    expect(clock.pending).toBe(0)
  })

  test('end every wait exactly once, at its own deadline, in any order', () =>
    eachSeed(30, async (random) => {
      const { clock, waits } = deadlines()
      const ends: number[] = []
      const dues: number[] = []
      for (let wait = 0; wait < 40; wait++) {
        const due = clock.now() + 50
        dues.push(due)
        const late = (): number => ends.push(clock.now() - due)
        const ended = random.whole(3) === 0
        waits.race(ended ? Promise.resolve('') : never(), { answered: () => ends.push(0), failed: late, late })
        if (random.whole(2) === 0) await settled()
        clock.advance(random.whole(20))
      }
      clock.advance(50)
      await settled()
      expect(ends).toEqual(Array(40).fill(0))
      expect([waits.pending, clock.pending]).toEqual([0, 0])
    }))

  test('end all waits and the timer when they are closed', async () => {
    const { clock, waits } = deadlines()
    const races = [waits.race(never(), words), waits.race(never(), words)]
    waits.close()
    expect(await Promise.all(races)).toEqual(['late', 'late'])
    expect([waits.pending, clock.pending]).toEqual([0, 0])
  })

  test('process answers that arrived while the process was stalled before they report a timeout', async () => {
    const clock = new OversleptClock()
    const waits = new Deadlines(clock, 50)
    let arrive: (value: string) => void = () => {}
    const race = waits.race(
      new Promise<string>((resolve) => {
        arrive = resolve
      }),
      words,
    )
    const missing = waits.race(never(), words)
    clock.oversleep(500)
    arrive('in the same turn')
    expect([await race, await missing]).toEqual(['came in the same turn', 'late'])
  })
})

/** A clock whose timers fire late, like the timers of a stalled process. */
class OversleptClock extends FakeClock {
  #due: () => void = () => {}
  #lateMs = 0

  override now(): number {
    return super.now() + this.#lateMs
  }

  override after(_ms: number, run: () => void): () => void {
    this.#due = run
    return () => {}
  }

  oversleep(ms: number): void {
    this.#lateMs += ms
    this.#due()
  }
}
