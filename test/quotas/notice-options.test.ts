import { expect, test } from '@jest/globals'
import { MemoryLedger } from '@sluice/counters'
import { createQuotas } from '@sluice/quotas'
import { FakeClock } from '@sluice/testkit'

const clock = new FakeClock()

function create(notices: unknown): Promise<void> {
  return createQuotas(new MemoryLedger(clock), { clock, notices: notices as number[] }).close()
}

test.each<readonly [string, unknown, string]>([
  ['a percentage', [80], 'notices\\[0\\]: expected an array of .+, received 80'],
  ['a share that is not a whole percentage', [0.5, 0.125], 'notices\\[1\\]: expected .+, received 0.125'],
  ['no share', [0], 'notices\\[0\\]: expected .+, received 0'],
  ['not a number', [Number.NaN], 'notices\\[0\\]: expected .+, received NaN'],
  ['text', ['0.5'], 'notices\\[0\\]: expected .+, received a string of 3 characters'],
  ['a hole', new Array(1), 'notices\\[0\\]: expected .+, received undefined'],
  ['a repeated share', [0.5, 0.8, 0.5], 'notices\\[2\\]: expected .+, received 0.5'],
  ['more than 10 shares', Array.from({ length: 11 }, (_, index) => (index + 1) / 100), 'notices\\[10\\]: expected .+'],
  ['a number instead of an array', 0.5, 'notices: expected .+, received 0.5'],
])('notices are rejected with %s', (_, notices, message) => {
  expect(() => create(notices)).toThrow(
    expect.objectContaining({ code: 'SLUICE_BAD_OPTION', message: expect.stringMatching(`createQuotas: ${message}`) }),
  )
})

test('each whole percentage is a share, and notices may be empty', async () => {
  for (let percentage = 1; percentage <= 100; percentage++) await create([percentage / 100])
  await create([])
})
