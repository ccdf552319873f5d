import { describe, expect, test } from '@jest/globals'
import { type Answer, type Backend, type Charge, memoryBackend, type PolicyVerdict } from '@sluice/limiter-core'
import { GroupedBackend } from '@sluice/limiter-core/backend'
import { FakeClock, openedCounter } from '@sluice/testkit'
import { frontBackend } from '../../contracts/front-backend.ts'

const clock = new FakeClock({ nowMs: 1_000 })

function charge(backend: Backend, name: string): Charge {
  const policy = { name, algorithm: 'fixed-window', limit: 10, windowMs: 3_600_000 } as const
  return { key: 'a', counter: openedCounter(backend, 'api', policy), cost: 4 }
}

/** Takes the charges one after the other, each a millisecond later, like a backend of several servers. */
function oneByOne(): Backend {
  const memory = frontBackend('memory', memoryBackend({ clock }))
  return {
    ...memory,
    name: 'one by one',
    async takeAll(charges): Promise<Answer> {
      const answers: Answer[] = []
      for (const charge of charges) {
        answers.push(memory.takeAll([charge]))
        clock.advance(1)
      }
      const verdicts = answers.map((answer) => answer.verdicts[0] as PolicyVerdict)
      const takenAts = answers.map(({ takenAt }) => takenAt)
      return { verdicts, takenAt: takenAts[0], takenAts, counted: true, source: 'one by one' }
    },
  }
}

describe('a request that several backends count', () => {
  /** Charges of three policies, of which `split` counts two, and a combined backend of both. */
  const scene = (split: Backend, beside: Backend) => {
    const charges = [charge(split, 'first'), charge(split, 'second'), charge(beside, 'other')]
    const homes = [split, split, beside]
    return {
      charges,
      grouped: new GroupedBackend(new Map(charges.map(({ counter }, index) => [counter, homes[index]]))),
    }
  }

  test('has a separate time for the take of each policy', async () => {
    const split = oneByOne()
    const { charges, grouped } = scene(split, { ...oneByOne(), name: 'another' })
    const { takenAts = [] } = await grouped.takeAll(charges)
    expect(takenAts.map((at) => at - takenAts[0])).toEqual([0, 1, 2])
    // a window starts with its first take, and earlier units are not in it
    const { verdicts } = await split.adjustAll([{ ...charges[1], cost: -4 }], takenAts[1])
    expect(verdicts[0].remaining).toBe(10)
  })

  test('is refunded in full by one backend if a later one denies', async () => {
    const split = oneByOne()
    const full = frontBackend('memory', memoryBackend({ clock }))
    const denies: Backend = { ...oneByOne(), name: 'full', takeAll: async (asked) => full.takeAll(asked) }
    const { charges, grouped } = scene(split, denies)
    full.takeAll([{ ...charges[2], cost: 10 }])
    const { verdicts } = await grouped.takeAll(charges)
    expect(verdicts.map(({ allowed }) => allowed)).toEqual([true, true, false])
    const left = await split.peekAll(charges.slice(0, 2))
    expect(left.verdicts.map(({ remaining }) => remaining)).toEqual([10, 10])
  })
})
