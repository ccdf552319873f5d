import { expect, test } from '@jest/globals'
import { type Answer, createLimiter, memoryBackend } from '@sluice/limiter-core'
import { FakeClock } from '@sluice/testkit'
import { frontBackend } from '../../contracts/front-backend.ts'

const policy = { name: 'calls', limit: 100, window: '1h', algorithm: 'fixed-window' } as const

function bench() {
  const clock = new FakeClock({ nowMs: 1_000 })
  const state = { isReadable: true }
  const way = async (ask: () => Answer): Promise<Answer> => {
    const answer = ask()
    return state.isReadable ? answer : { ...answer, verdicts: [] }
  }
  const memory = memoryBackend({ clock })
  const backend = frontBackend('remote', memory, way)
  const options = { policies: [policy], scope: 'unreadable', clock }
  const limiter = createLimiter({ ...options, backend })
  const used = async (): Promise<number> => {
    const reader = createLimiter({ ...options, backend: memory })
    const { binding } = await reader.peek('key')
    reader.close()
    return 100 - binding.remaining
  }
  return { limiter, state, used }
}

test('a take that the backend has counted, and answered in another format, is counted once', async () => {
  const { limiter, state, used } = bench()
  await limiter.take('key', 1)
  state.isReadable = false
  expect(await limiter.take('key', 10)).toMatchObject({ allowed: true, counted: false })
  expect(await used()).toBe(11)
  state.isReadable = true
  await limiter.take('key', 1)
  expect(await used()).toBe(12)
  limiter.close()
})
