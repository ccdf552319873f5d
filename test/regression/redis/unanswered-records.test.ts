import { expect, test } from '@jest/globals'
import { redisRecords } from '@sluice/redis'
import { FakeClock } from '@sluice/testkit'

test('a call rejects after two seconds if the runner never settles it, and the next one works', async () => {
  const clock = new FakeClock()
  let answer: () => unknown = () => new Promise(() => {})
  const records = redisRecords({ run: async () => answer() }, { clock })
  const rejected = [records.all(), records.put('a', 'text', 1)].map((call) =>
    expect(call).rejects.toMatchObject({ code: 'LATE', mayHaveCounted: true }),
  )
  clock.advance(2_000)
  await Promise.all(rejected)
  expect(clock.pending).toBe(0)
  answer = () => 1
  await records.put('a', 'text', 1)
  answer = () => ['text']
  expect(await records.all()).toEqual(['text'])
})

test.each([null, undefined, 'OK', 0, Number.NaN, [], {}])(
  'a reply of %p does not acknowledge a record',
  async (answer) => {
    const records = redisRecords({ run: async () => answer }, { clock: new FakeClock() })
    await expect(records.put('a', 'text', 1)).rejects.toMatchObject({ code: 'ERR' })
  },
)
