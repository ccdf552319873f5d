import { expect, test } from '@jest/globals'
import { type RateCheck, RateGate } from '@sluice/http'
import { FakeClock } from '@sluice/testkit'
import { viewOf } from '../../keys/request-view.ts'

test('a plugin scope with its own clock shares the memory of its parent: a denial shows every policy correctly', () => {
  const fixed = { window: '1m', algorithm: 'fixed-window' } as const
  const app = new RateGate({ ...fixed, name: 'api', limit: 9, clock: new FakeClock() })
  const part = app.nested({ options: { ...fixed, name: 'own', limit: 1 }, routeScope: 'part' })
  const left = (): number[] => {
    const { decision } = part.check(viewOf()) as RateCheck<unknown, unknown>
    return decision.verdicts.map(({ remaining }) => remaining)
  }
  expect([left(), left(), left()]).toEqual([
    [8, 0],
    [8, 0],
    [8, 0],
  ])
})
