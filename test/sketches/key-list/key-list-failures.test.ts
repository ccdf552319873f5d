import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { allowList, blockList, type KeyListOptions } from '@sluice/sketches/limits'
import { FakeClock, Warnings, Watcher } from '@sluice/testkit'

const warnings = new Warnings()
const unhandled: unknown[] = []
const recordRejection = (error: unknown): void => {
  unhandled.push(error)
}

beforeEach(() => {
  warnings.listen()
  unhandled.length = 0
  process.on('unhandledRejection', recordRejection)
})
afterEach(async () => {
  // unhandled rejections are reported after the microtasks of their turn
  await new Promise((resolve) => setImmediate(resolve))
  process.off('unhandledRejection', recordRejection)
  warnings.stop()
  expect(unhandled).toEqual([])
})

function failing(exact: KeyListOptions['exact'], options: Partial<KeyListOptions> = {}) {
  const clock = new FakeClock()
  const watcher = new Watcher()
  const given = { capacity: 100, exact, clock, observers: [watcher], ...options }
  const lists = { block: blockList(given), allow: allowList(given) }
  lists.block.add('ann')
  lists.allow.add('ann')
  return { clock, watcher, ...lists }
}

const gone = Object.assign(new Error('the database is gone'), { code: 'ECONNREFUSED' })
const broken: readonly (readonly [string, KeyListOptions['exact'], string])[] = [
  [
    'throws',
    () => {
      throw gone
    },
    'ECONNREFUSED',
  ],
  ['rejects', () => Promise.reject(gone), 'ECONNREFUSED'],
  ['rejects with undefined', () => Promise.reject(undefined), 'ERROR'],
  [
    'throws a value without text',
    () => {
      throw Object.create(null)
    },
    'ERROR',
  ],
  ['returns neither true nor false', () => undefined as unknown as boolean, 'SLUICE_BAD_OPTION'],
  ['resolves to neither true nor false', async () => 1 as unknown as boolean, 'SLUICE_BAD_OPTION'],
  [
    'is a thenable that throws',
    () =>
      ({
        // biome-ignore lint/suspicious/noThenProperty: libraries return such values as promises
        then() {
          throw gone
        },
      }) as unknown as Promise<boolean>,
    'ECONNREFUSED',
  ],
]

describe.each(broken)('an exact stage that %s', (_what, exact, cause) => {
  test('denies keys that the filter of a block list contains, and does not admit keys of an allow list', async () => {
    const { block, allow } = failing(exact)
    expect(await block.has('ann')).toBe(true)
    expect(await allow.has('ann')).toBe(false)
    expect([block.has('bob'), allow.has('bob')]).toEqual([false, false])
    expect(block.stats).toEqual({
      asked: 2,
      passedByFilter: 1,
      positives: 1,
      falsePositives: 0,
      remembered: 0,
      ruled: 1,
    })
  })

  test('is answered by the onError option if it is set', async () => {
    expect(await failing(exact, { onError: 'absent' }).block.has('ann')).toBe(false)
    expect(await failing(exact, { onError: 'present' }).allow.has('ann')).toBe(true)
  })

  test('is reported to observers and on stderr', async () => {
    const { block, watcher } = failing(exact, { name: 'blocked users' })
    await block.has('ann')
    expect(watcher.events).toEqual([
      {
        name: 'backendFailed',
        data: expect.objectContaining({ backend: 'blocked users', operation: 'has', cause }),
      },
    ])
    expect(warnings.codes).toEqual(['SLUICE_BACKEND_FAILED'])
    expect(warnings.texts[0]).toContain("'blocked users'")
  })

  test('is not remembered', async () => {
    let calls = 0
    const { block } = failing(
      (key) => {
        calls++
        return exact(key)
      },
      { remember: { ttlMs: '1h' } },
    )
    await block.has('ann')
    await block.has('ann')
    expect(calls).toBe(2)
  })
})

describe('a slow exact stage', () => {
  const never = (): Promise<boolean> => new Promise(() => {})

  test('is awaited for 50 ms', async () => {
    const { block, allow, clock, watcher } = failing(never)
    const answers: boolean[] = []
    const waits = [block.has('ann'), allow.has('ann')].map((wait) =>
      Promise.resolve(wait).then((yes) => answers.push(yes)),
    )
    clock.advance(49)
    await Promise.resolve()
    expect(answers).toEqual([])
    clock.advance(1)
    await Promise.all(waits)
    expect(answers).toEqual([true, false])
    expect(watcher.events.map(({ data }) => data.cause)).toEqual(['LATE', 'LATE'])
    expect(clock.pending).toBe(0)
  })

  test('is awaited for the configured deadline', async () => {
    const { block, clock } = failing(never, { deadlineMs: '2s', onError: 'absent' })
    const wait = block.has('ann')
    clock.advance(1999)
    expect(clock.pending).toBe(1)
    clock.advance(1)
    expect(await wait).toBe(false)
  })

  test('may answer or fail after the deadline without effect', async () => {
    for (const late of [Promise.resolve(false), Promise.reject(gone)]) {
      let go = (): void => {}
      const gate = new Promise<void>((resolve) => {
        go = resolve
      })
      const { block, clock } = failing(() => gate.then(() => late))
      const wait = block.has('ann')
      clock.advance(50)
      expect(await wait).toBe(true)
      go()
      await gate
      expect(block.stats).toMatchObject({ falsePositives: 0, ruled: 1 })
    }
  })

  test('is called only once a second after ten failures, until it answers', async () => {
    let calls = 0
    let works = false
    const { block, clock, watcher } = failing(() => {
      calls++
      if (works) return true
      throw gone
    })
    for (let n = 0; n < 100; n++) expect(block.has('ann')).toBe(true)
    expect(calls).toBe(10)
    expect(block.stats.ruled).toBe(100)
    clock.advance(1000)
    for (let n = 0; n < 100; n++) block.has('ann')
    expect(calls).toBe(11)
    await Promise.resolve()
    works = true
    clock.advance(1000)
    block.has('ann')
    await new Promise((resolve) => setImmediate(resolve))
    expect(block.has('ann')).toBe(true)
    expect(block.has('ann')).toBe(true)
    expect(calls).toBe(14)
    expect(block.stats.ruled).toBe(201)
    expect(watcher.events.filter(({ name }) => name === 'breaker').map(({ data }) => data.state)).toEqual([
      'open',
      'half-open',
      'closed',
    ])
    // one line when it began to fail, and one 2 s later
    expect(warnings.codes).toEqual(['SLUICE_BACKEND_FAILED', 'SLUICE_BACKEND_FAILED', 'SLUICE_BACKEND_RECOVERED'])
  })

  test('is released by close, which stops the timer and does not count as a failure', async () => {
    const { block, clock, watcher } = failing(never)
    const wait = block.has('ann')
    block.close()
    expect(await wait).toBe(true)
    expect(clock.pending).toBe(0)
    expect(watcher.events).toEqual([])
  })

  test('ignores observers that throw', async () => {
    const { block } = failing(
      () => {
        throw gone
      },
      {
        observers: [
          {
            event() {
              throw new Error('an observer that throws')
            },
          },
        ],
      },
    )
    expect(block.has('ann')).toBe(true)
    expect(block.has('ann')).toBe(true)
  })
})
