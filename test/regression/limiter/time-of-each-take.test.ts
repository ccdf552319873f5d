import { describe, expect, test } from '@jest/globals'
import {
  type Answer,
  algorithms,
  type Backend,
  type Charge,
  GroupedBackend,
  memoryBackend,
  type PolicyVerdict,
  type Step,
} from '@sluice/limiter-core'
import { FakeClock } from '@sluice/testkit'

const clock = new FakeClock({ nowMs: 1_000 })

function step(name: string, limit = 10): Step {
  return algorithms['fixed-window'].compile({ name, algorithm: 'fixed-window', limit, windowMs: 3_600_000 })
}

/** Takes one charge after the other, each a millisecond later, as a backend of several servers does. */
function oneByOne(): Backend {
  const memory = memoryBackend({ clock })
  return {
    ...memory,
    name: 'one by one',
    async take(charges): Promise<Answer> {
      const answers: Answer[] = []
      for (const charge of charges) {
        answers.push(memory.take([charge]))
        clock.advance(1)
      }
      const verdicts = answers.map((answer) => answer.verdicts[0] as PolicyVerdict)
      const takenAts = answers.map(({ takenAt }) => takenAt)
      return { verdicts, takenAt: takenAts[0], takenAts, counted: true, source: 'one by one' }
    },
    peek: (charges) => memory.peek(charges),
    adjust: (charges, takenAt, moment) => memory.adjust(charges, takenAt, moment),
    reset: (targets) => memory.reset(targets),
  }
}

const charge = (name: string, of: Step): Charge => ({ key: 'a', step: of, count: name, cost: 4 })

describe('of a request that several backends count', () => {
  const [first, second, other] = [step('first'), step('second'), step('other')]
  const charges = [charge('first', first), charge('second', second), charge('other', other)]

  test('each policy has the time at which it was taken', async () => {
    const split = oneByOne()
    const grouped = new GroupedBackend(
      new Map<Step, Backend>([
        [first, split],
        [second, split],
        [other, { ...oneByOne(), name: 'another' }],
      ]),
    )
    const { takenAts = [] } = await grouped.take(charges)
    expect(takenAts.map((at) => at - takenAts[0])).toEqual([0, 1, 2])
    // a window begins with its first take: what belongs to an earlier time is not in it
    const { verdicts } = await split.adjust([{ ...charges[1], cost: -4 }], takenAts[1])
    expect(verdicts[0].remaining).toBe(10)
  })

  test('all that one backend took comes back where a later one denies', async () => {
    const split = oneByOne()
    const full = memoryBackend({ clock })
    full.take([{ ...charges[2], cost: 10 }])
    const denies: Backend = { ...oneByOne(), name: 'full', take: async (asked) => full.take(asked) }
    const homes: [Step, Backend][] = [
      [first, split],
      [second, split],
      [other, denies],
    ]
    const { verdicts } = await new GroupedBackend(new Map(homes)).take(charges)
    expect(verdicts.map(({ allowed }) => allowed)).toEqual([true, true, false])
    const left = await split.peek(charges.slice(0, 2))
    expect(left.verdicts.map(({ remaining }) => remaining)).toEqual([10, 10])
  })
})
