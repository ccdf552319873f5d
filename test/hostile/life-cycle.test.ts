import { describe, expect, test } from '@jest/globals'
import { RateGate } from '@sluice/http'
import { createLimiter, memoryBackend, type RequestView } from '@sluice/limiter-core'
import { algorithms, compilePolicy } from '@sluice/limiter-core/backend'
import { FakeClock } from '@sluice/testkit'

const policy = { algorithm: 'fixed-window', limit: 5, window: '1h' } as const

describe('reentrancy', () => {
  test('an observer may take units of the same and other keys while it handles a decision', () => {
    const backend = memoryBackend()
    const inner = createLimiter({ policies: [policy], backend })
    const decided = (key: string) => void (key.length < 4 && inner.take(`${key}+`))
    const limiter = createLimiter({ policies: [policy], backend, shared: true, observers: [{ decided }] })
    expect([1, 2, 3].map(() => limiter.take('key').verdicts[0].remaining)).toEqual([4, 3, 2])
    expect(limiter.peek('key+').verdicts[0].remaining).toBe(2)
  })

  test('an observer that throws is removed, and decisions do not change', () => {
    let told = 0
    const observer = {
      decided() {
        told++
        throw new Error('observer')
      },
    }
    const limiter = createLimiter({ policies: [policy], observers: [observer] })
    expect([1, 2, 3].map(() => limiter.take('key').verdicts[0].remaining)).toEqual([4, 3, 2])
    expect(told).toBe(1)
  })
})

describe('after close', () => {
  test('a limiter continues to count without notifying observers', () => {
    let told = 0
    const limiter = createLimiter({ policies: [policy], observers: [{ event: () => void told++ }] })
    limiter.take('key')
    limiter.close()
    limiter.close()
    expect(limiter.take('key').verdicts[0].remaining).toBe(3)
    expect(told).toBe(0)
  })

  test('a memory backend continues to count', () => {
    const backend = memoryBackend()
    const limiter = createLimiter({ policies: [policy], backend })
    limiter.take('key')
    backend.close?.()
    expect(limiter.take('key').verdicts[0].remaining).toBe(3)
  })
})

test('one policy under two names has two separate counts', () => {
  const compiled = algorithms['fixed-window'].compile(compilePolicy(policy))
  const backend = memoryBackend({ clock: new FakeClock() })
  const charges = ['a', 'b', 'a'].map((name, index) => ({
    key: 'key',
    counter: backend.open(compiled, name),
    cost: index + 1,
  }))
  expect(charges.map((charge) => backend.takeAll([charge]).verdicts[0].remaining)).toEqual([4, 3, 1])
  const both = backend.takeAll([charges[0], charges[1]])
  expect(both.verdicts.map(({ remaining }) => remaining)).toEqual([0, 1])
})

test('a key function that modifies the request affects only its own key', async () => {
  const raw = { user: 'first' }
  const view: RequestView<typeof raw> = { ip: '192.0.2.1', method: 'GET', route: '/', header: () => undefined, raw }
  const guard = new RateGate<typeof raw, unknown>({
    policies: [
      { ...policy, name: 'a', key: (request) => request.user },
      { ...policy, name: 'b', key: (request) => Object.assign(request, { user: 'second' }).user },
    ],
  })
  expect((await guard.check(view))?.keys).toEqual(['first', 'second'])
  expect((await guard.check(view))?.keys).toEqual(['second', 'second'])
})

test('a clock that steps back neither admits a denied key nor throws', () => {
  for (const algorithm of Object.keys(algorithms) as (keyof typeof algorithms)[]) {
    let nowMs = 3_600_000
    const clock = Object.assign(new FakeClock(), { now: () => nowMs })
    const limiter = createLimiter({ policies: [{ ...policy, algorithm }], backend: memoryBackend({ clock }) })
    limiter.take('key', 5)
    for (nowMs of [3_599_000, 3_000_000, 0, -1, 3_600_000]) expect(limiter.take('key').allowed).toBe(false)
  }
})
