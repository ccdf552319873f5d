import { expect, test } from '@jest/globals'
import { afterThisTurn } from '@sluice/limiter-core/backend'
import { redisSyncLedger } from '@sluice/redis'
import { FakeClock } from '@sluice/testkit'

const reply = (answer: unknown) => {
  const clock = new FakeClock()
  return { clock, ledger: redisSyncLedger({ run: async () => answer }, { clock }) }
}

test.each([1, 7, '3'])('a reply of %p is the number of processes', async (answer) => {
  expect(await reply(answer).ledger.nodes?.(50)).toBe(Number(answer))
})

test.each([0, -1, 1.5, 1e308, 2 ** 53, Number.POSITIVE_INFINITY, Number.NaN, 'many', '1e400', null, undefined])(
  'a reply of %p is not a number of processes',
  async (answer) => {
    expect(await reply(answer).ledger.nodes?.(50)).toBeUndefined()
  },
)

test('a process stops waiting for the number of processes if the runner never settles the call', async () => {
  const { clock, ledger } = reply(new Promise(() => {}))
  const rejected = expect(ledger.nodes?.(50)).rejects.toMatchObject({ code: 'LATE' })
  await new Promise<void>((resolve) => afterThisTurn(resolve))
  clock.advance(1_000)
  await rejected
  expect(clock.pending).toBe(0)
})
