import { expect, test } from '@jest/globals'
import { createLimiter, type Limiter } from '@sluice/limiter-core'
import { FakeClock } from '@sluice/testkit'
import { PromisedBackend } from '../../contracts/async-backend.ts'

test('a process reads the ban of a key although another backend of the limiter is not called after a denial', async () => {
  const clock = new FakeClock({ nowMs: 1_000 })
  const [first, second] = [new PromisedBackend(clock), new PromisedBackend(clock)]
  const bans: unknown[] = []
  const process = (): Limiter =>
    createLimiter({
      policies: [
        { name: 'p', limit: 1, window: '1m', backend: first, ban: { after: 2, within: '1m', for: '10m', growth: 2 } },
        { name: 'q', limit: 9, window: '1m', backend: second },
      ],
      shared: true,
      clock,
      observers: [{ event: (name, data) => void (name === 'ban' && bans.push(data)) }],
    })
  const sourcesOf = async (limiter: Limiter, times: number): Promise<readonly string[]> => {
    const sources: string[] = []
    for (let time = 0; time < times; time++) {
      sources.push((await limiter.take('a')).source)
      for (let turn = 0; turn < 40; turn++) await undefined
    }
    return sources
  }
  expect((await sourcesOf(process(), 4)).at(-1)).toBe('banned')
  expect(await sourcesOf(process(), 4)).toEqual(['banned', 'banned', 'banned', 'banned'])
  expect(bans).toMatchObject([{ level: 0 }])
})
