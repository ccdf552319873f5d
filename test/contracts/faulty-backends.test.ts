import { describe, expect, test } from '@jest/globals'
import { type Answer, algorithms, type Backend, type Charge, memoryBackend } from '@sluice/limiter-core'
import { backendContract } from '@sluice/testkit'
import { firstFailedClaim } from './claims-run.ts'

type Memory = Backend<Answer>

const backendFaults: Readonly<Record<string, (memory: Memory) => Partial<Memory>>> = {
  'takes one charge after the other': (memory) => ({
    take: (charges) => {
      const answers = charges.map((charge) => memory.take([charge]))
      return { ...answers[0], verdicts: answers.flatMap(({ verdicts }) => verdicts) }
    },
  }),
  'spends on a peek': (memory) => ({ peek: (charges) => memory.take(charges) }),
  'lets advisory charges veto': (memory) => ({ take: (charges) => memory.take(charges.map(enforced)) }),
  'never takes advisory charges': (memory) => ({ take: (charges) => memory.take(charges.map(freeIfAdvisory)) }),
  'refunds at the wrong time': (memory) => ({ adjust: (charges, takenAt) => memory.adjust(charges, takenAt + 1_000) }),
  'ignores refunds': (memory) => ({ adjust: (charges, takenAt) => memory.adjust(charges.map(noRefund), takenAt) }),
  'resets nothing': () => ({ reset: () => {} }),
  'cuts keys at a NUL': (memory) => ({
    take: (charges) => memory.take(charges.map((charge) => ({ ...charge, key: charge.key.split('\0')[0] }))),
    peek: (charges) => memory.peek(charges.map((charge) => ({ ...charge, key: charge.key.split('\0')[0] }))),
  }),
  'counts by the limit too': (memory) => ({
    take: (charges) => memory.take(charges.map(byLimit)),
    peek: (charges) => memory.peek(charges.map(byLimit)),
  }),
  'counts plans by their policies alone': (memory) => ({
    take: (charges) => memory.take(charges.map(byPolicyAlone)),
    peek: (charges) => memory.peek(charges.map(byPolicyAlone)),
  }),
  'answers single charges otherwise': (memory) => ({
    takeOne: (key, step, count, cost) => (memory as Required<Memory>).takeOne(key, step, count, cost + 1),
  }),
  'ignores what a caller knows': (memory) => ({
    take: (charges) => memory.take(charges.map((charge) => ({ ...charge, known: undefined }))),
  }),
  'believes whatever a caller knows': (memory) => ({
    take: (charges) => {
      memory.reset(charges.filter((charge) => charge.known))
      return memory.take(charges)
    },
  }),
  'believes what a caller knows only where it takes': (memory) => ({
    take: (charges) => {
      const unknowing = charges.map((charge) => ({ ...charge, known: undefined }))
      const denied = memory.peek(unknowing).verdicts.some(({ allowed }) => !allowed)
      return memory.take(denied ? unknowing : charges)
    },
  }),
  'tells of more units a ms late': (memory) => ({
    take: (charges) => later(memory.take(charges)),
    peek: (charges) => later(memory.peek(charges)),
  }),
  'reverses its verdicts': (memory) => ({
    take: (charges) => {
      const answer = memory.take(charges)
      return { ...answer, verdicts: [...answer.verdicts].reverse() }
    },
  }),
}

function wrapped(memory: Memory): Memory {
  return {
    name: 'wrapped',
    take: (charges) => memory.take(charges),
    peek: (charges) => memory.peek(charges),
    adjust: (charges, takenAt) => memory.adjust(charges, takenAt),
    reset: (targets) => memory.reset(targets),
  }
}

describe('the backend contract', () => {
  test('finds no fault in a backend wrapped as the faulty ones are', async () => {
    const failed = await firstFailedClaim((runner) =>
      backendContract(runner, (clock) => wrapped(memoryBackend({ clock }))),
    )
    expect(failed).toBeUndefined()
  })

  test('finds no fault in a backend that does not tell when more is left', async () => {
    const failed = await firstFailedClaim((runner) =>
      backendContract(runner, (clock) => {
        const memory = memoryBackend({ clock })
        return {
          ...wrapped(memory),
          take: (charges) => untold(memory.take(charges)),
          peek: (charges) => untold(memory.peek(charges)),
          adjust: (charges, takenAt) => untold(memory.adjust(charges, takenAt)),
        }
      }),
    )
    expect(failed).toBeUndefined()
  })

  test.each(Object.entries(backendFaults))('finds that a backend %s', async (_, fault) => {
    const failed = await firstFailedClaim((runner) =>
      backendContract(runner, (clock) => {
        const memory = memoryBackend({ clock })
        return { ...wrapped(memory), ...fault(memory) }
      }),
    )
    expect(failed).toBeDefined()
  })
})

function later({ verdicts, ...answer }: Answer): Answer {
  const { availableAfterMs = 0 } = verdicts[0]
  return { ...answer, verdicts: verdicts.map((verdict) => ({ ...verdict, availableAfterMs: availableAfterMs + 1 })) }
}

function untold({ verdicts, ...answer }: Answer): Answer {
  return { ...answer, verdicts: verdicts.map(({ availableAfterMs: _, ...verdict }) => verdict) }
}

function byPolicyAlone(charge: Charge): Charge {
  const { policy, variants } = charge.step
  if (!variants) return charge
  return { ...charge, step: algorithms[policy.algorithm].compile(policy), count: `${charge.count} ${policy.algorithm}` }
}

function enforced(charge: Charge): Charge {
  return { ...charge, advisory: false }
}

function freeIfAdvisory(charge: Charge): Charge {
  return charge.advisory ? { ...charge, cost: 0 } : charge
}

function noRefund(charge: Charge): Charge {
  return { ...charge, cost: Math.max(0, charge.cost) }
}

function byLimit(charge: Charge): Charge {
  return { ...charge, count: `${charge.count} ${charge.step.policy.limit}` }
}
