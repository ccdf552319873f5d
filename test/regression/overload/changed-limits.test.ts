import { describe, expect, test } from '@jest/globals'
import { type CapHandle, createInflightLimiter, type Permit } from '@sluice/limiter-core'
import { adaptive, prioritizedInflight } from '@sluice/overload'
import { FakeClock } from '@sluice/testkit'

function capOf(limit: number) {
  const clock = new FakeClock()
  const backend = prioritizedInflight({ queue: { max: 10, maxWaitMs: '10s' }, clock })
  const handles: CapHandle[] = []
  const observers = [{ capOpened: (handle: CapHandle) => void handles.push(handle) }]
  const cap = createInflightLimiter({ limit, backend, clock, observers })
  const answers: string[] = []
  const ask = async (name: string, weight = 1): Promise<Permit | undefined> => {
    const permit = await cap.acquire('', { weight })
    answers.push(permit ? name : `not ${name}`)
    return permit
  }
  const change = (to: number): void => handles[0].control({ limit: to, blockedMs: () => 0 })
  const restore = (): void => handles[0].control(undefined)
  return { ask, answers, change, restore, cap, clock }
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await undefined
}

describe('requests that wait while the limit changes', () => {
  // regression: they kept the limit of the time of their arrival, and were refused although there was room
  test('are admitted when it has grown', async () => {
    const { ask, answers, change } = capOf(2)
    await ask('a')
    await ask('b')
    ask('c')
    change(4)
    ask('d')
    await settled()
    expect(answers.sort()).toEqual(['a', 'b', 'c', 'd'])
  })

  // regression: a limit that had grown reached them only with the next request or release
  test('are admitted at once when it has grown', async () => {
    const { ask, answers, change, restore, cap } = capOf(4)
    change(1)
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) ask(name)
    await settled()
    expect(answers).toEqual(['a'])
    change(3)
    await settled()
    expect(answers).toEqual(['a', 'b', 'c'])
    restore()
    await settled()
    expect([answers, cap.count()]).toEqual([['a', 'b', 'c', 'd'], 4])
  })

  test('are admitted at once when an adaptive limit has grown', async () => {
    const clock = new FakeClock()
    const backend = prioritizedInflight({ queue: { max: 100, maxWaitMs: '10s' }, clock })
    const limit = adaptive({ min: 1, max: 9, initial: 1, algorithm: 'aimd', timeout: '1s' })
    const cap = createInflightLimiter({ limit, backend, clock })
    const held: Permit[] = []
    for (let request = 0; request < 60; request++) {
      Promise.resolve(cap.acquire()).then((permit) => permit && held.push(permit))
    }
    await settled()
    for (let release = 0; release < 40; release++) {
      clock.advance(10)
      held.shift()?.release()
      await settled()
      expect(cap.count()).toBe(cap.limit)
    }
    expect(cap.limit).toBeGreaterThan(2)
    backend.close?.()
  })

  // regression: the lower limit applied from the next request on, so releases admitted others above it
  test('wait until less than the lower limit is held', async () => {
    const { ask, answers, change, cap } = capOf(4)
    const permits = [await ask('a'), await ask('b'), await ask('c'), await ask('d')]
    ask('e')
    ask('f')
    change(2)
    for (const [released, held] of [3, 2, 2, 2].entries()) {
      permits[released]?.release()
      await settled()
      expect(cap.count()).toBe(held)
    }
    expect(answers).toEqual(['a', 'b', 'c', 'd', 'e', 'f'])
  })

  // regression: a request whose weight had become too large stopped all after it until its time was over
  test('are refused if their weight is above the new limit, and do not stop others', async () => {
    const { ask, answers, change } = capOf(4)
    const first = await ask('first', 4)
    ask('heavy', 3)
    ask('light')
    change(2)
    first?.release()
    await settled()
    expect(answers).toEqual(['first', 'not heavy', 'light'])
  })

  test('do not wait if their weight is above the limit', async () => {
    const { ask, answers, change, clock } = capOf(4)
    change(2)
    await ask('heavy', 3)
    expect([answers, clock.pending]).toEqual([['not heavy'], 0])
  })
})
