import { describe, expect, test } from '@jest/globals'
import { type Answer, type Backend, type Charge, type CompiledPolicy, memoryBackend } from '@sluice/limiter-core'
import { algorithms } from '@sluice/limiter-core/backend'
import { backendContract } from '@sluice/testkit'
import { firstFailedClaim } from './claims-run.ts'
import { frontBackend } from './front-backend.ts'

type Memory = Backend<Answer>

const backendFaults: Readonly<Record<string, (memory: Memory) => Partial<Memory>>> = {
  'takes the charges of a call one after the other': (memory) => ({
    takeAll: (charges) => {
      const answers = charges.map((charge) => memory.takeAll([charge]))
      return { ...answers[0], verdicts: answers.flatMap(({ verdicts }) => verdicts) }
    },
  }),
  'spends units on a peek': (memory) => ({ peekAll: (charges) => memory.takeAll(charges) }),
  'lets advisory charges deny a call': (memory) => ({ takeAll: (charges) => memory.takeAll(charges.map(notAdvisory)) }),
  'never takes advisory charges': (memory) => ({ takeAll: (charges) => memory.takeAll(charges.map(freeIfAdvisory)) }),
  'refunds at the wrong time': (memory) => ({
    adjustAll: (charges, takenAt) => memory.adjustAll(charges, takenAt + 1_000),
  }),
  'ignores refunds': (memory) => ({
    adjustAll: (charges, takenAt) => memory.adjustAll(charges.map(noRefund), takenAt),
  }),
  'ignores resets': () => ({ resetAll: () => {} }),
  'truncates keys at a NUL': (memory) => ({
    takeAll: (charges) => memory.takeAll(charges.map((charge) => ({ ...charge, key: charge.key.split('\0')[0] }))),
    peekAll: (charges) => memory.peekAll(charges.map((charge) => ({ ...charge, key: charge.key.split('\0')[0] }))),
  }),
  'keeps separate counts for different limits': (memory) => ({
    takeAll: (charges) => memory.takeAll(charges.map(byLimit)),
    peekAll: (charges) => memory.peekAll(charges.map(byLimit)),
  }),
  'keeps separate counts for the policies of one plan': (memory) => ({
    takeAll: (charges) => memory.takeAll(charges.map(byPolicyAlone)),
    peekAll: (charges) => memory.peekAll(charges.map(byPolicyAlone)),
  }),
  'charges too much in a single take': (memory) => ({
    open(compiled, name) {
      const counter = memory.open(compiled, name)
      return { compiled, name, take: (key, cost) => counter.take(key, cost + 1) }
    },
  }),
  'ignores known usage from the caller': (memory) => ({
    takeAll: (charges) => memory.takeAll(charges.map((charge) => ({ ...charge, known: undefined }))),
  }),
  'replaces its own count with known usage from the caller': (memory) => ({
    takeAll: (charges) => {
      memory.resetAll(charges.filter((charge) => charge.known))
      return memory.takeAll(charges)
    },
  }),
  'uses known usage from the caller only if the call takes units': (memory) => ({
    takeAll: (charges) => {
      const unknowing = charges.map((charge) => ({ ...charge, known: undefined }))
      const denied = memory.peekAll(unknowing).verdicts.some(({ allowed }) => !allowed)
      return memory.takeAll(denied ? unknowing : charges)
    },
  }),
  'reports availability 1 ms late': (memory) => ({
    takeAll: (charges) => later(memory.takeAll(charges)),
    peekAll: (charges) => later(memory.peekAll(charges)),
  }),
  'returns the verdicts in reverse order': (memory) => ({
    takeAll: (charges) => {
      const answer = memory.takeAll(charges)
      return { ...answer, verdicts: [...answer.verdicts].reverse() }
    },
  }),
}

describe('the backend contract', () => {
  test('finds no fault if the wrapper changes nothing', async () => {
    const failed = await firstFailedClaim((runner) =>
      backendContract(runner, (clock) => frontBackend('wrapped', memoryBackend({ clock }))),
    )
    expect(failed).toBeUndefined()
  })

  test('finds no fault in a backend that does not report when more units are available', async () => {
    const failed = await firstFailedClaim((runner) =>
      backendContract(runner, (clock) =>
        frontBackend('withoutAvailability', memoryBackend({ clock }), (ask) => withoutAvailability(ask())),
      ),
    )
    expect(failed).toBeUndefined()
  })

  test.each(Object.entries(backendFaults))('detects a faulty backend that %s', async (_, fault) => {
    const failed = await firstFailedClaim((runner) =>
      backendContract(runner, (clock) => {
        const memory = memoryBackend({ clock })
        // the wrapper also forwards single takes of its counters to takeAll
        return Object.assign(frontBackend('wrapped', memory), fault(frontBackend('memory', memory)))
      }),
    )
    expect(failed).toBeDefined()
  })
})

function later({ verdicts, ...answer }: Answer): Answer {
  const { availableAfterMs = 0 } = verdicts[0]
  return { ...answer, verdicts: verdicts.map((verdict) => ({ ...verdict, availableAfterMs: availableAfterMs + 1 })) }
}

function withoutAvailability({ verdicts, ...answer }: Answer): Answer {
  return { ...answer, verdicts: verdicts.map(({ availableAfterMs: _, ...verdict }) => verdict) }
}

function byPolicyAlone(charge: Charge): Charge {
  const { compiled, name } = charge.counter
  const { policy, variants } = compiled
  if (!variants) return charge
  return countedAs(charge, algorithms[policy.algorithm].compile(policy), `${name} ${policy.algorithm}`)
}

function notAdvisory(charge: Charge): Charge {
  return { ...charge, advisory: false }
}

function freeIfAdvisory(charge: Charge): Charge {
  return charge.advisory ? { ...charge, cost: 0 } : charge
}

function noRefund(charge: Charge): Charge {
  return { ...charge, cost: Math.max(0, charge.cost) }
}

function byLimit(charge: Charge): Charge {
  const { compiled, name } = charge.counter
  return countedAs(charge, compiled, `${name} ${compiled.policy.limit}`)
}

/** Returns the charge with another counter. `frontBackend` opens counters of unknown names on first use. */
function countedAs(charge: Charge, compiled: CompiledPolicy, name: string): Charge {
  return { ...charge, counter: { ...charge.counter, compiled, name } }
}
