import { describe, expect, test } from '@jest/globals'
import {
  createInflightLimiter,
  type InflightLimiter,
  type LocalInflightLimiter,
  type Permit,
} from '@sluice/limiter-core'
import { inflightContract, type MadeInflightOptions } from '@sluice/testkit'
import { firstFailedClaim } from './claims-run.ts'

const capFaults: Readonly<
  Record<string, (cap: LocalInflightLimiter, options: MadeInflightOptions) => InflightLimiter>
> = {
  'gives a place more': (_, options) => createInflightLimiter({ ...options, limit: options.limit + 1 }),
  'counts every release': (cap) => countingEveryRelease(cap),
  'never takes back': (_, { maxHoldMs: _bound, ...options }) => createInflightLimiter(options),
  'weighs all work alike': (cap) => ({ ...plainCap(cap), acquire: (key) => cap.acquire(key) }),
  'has one count for all keys': (cap) => ({ ...plainCap(cap), acquire: (_key, options) => cap.acquire('', options) }),
  'tells no observer': (_, options) => createInflightLimiter({ ...options, observers: [] }),
}

describe('the in-flight contract', () => {
  test('finds no fault in a cap wrapped as the faulty ones are', async () => {
    const failed = await firstFailedClaim((runner) =>
      inflightContract(runner, (options) => plainCap(createInflightLimiter(options))),
    )
    expect(failed).toBeUndefined()
  })

  test.each(Object.entries(capFaults))('finds that a cap %s', async (_, fault) => {
    const failed = await firstFailedClaim((runner) =>
      inflightContract(runner, (options) => fault(createInflightLimiter(options), options)),
    )
    expect(failed).toBeDefined()
  })
})

function plainCap(cap: LocalInflightLimiter): InflightLimiter {
  return {
    name: cap.name,
    limit: cap.limit,
    acquire: (key, options) => cap.acquire(key, options),
    count: (key) => cap.count(key),
    close: () => cap.close(),
  }
}

// a later release gives back the place of somebody else
function countingEveryRelease(cap: LocalInflightLimiter): InflightLimiter {
  const held: Permit[] = []
  return {
    ...plainCap(cap),
    acquire: (key, options) => {
      const permit = cap.acquire(key, options)
      if (!permit) return undefined
      held.push(permit)
      let released = false
      const release = (): void => {
        if (released) for (const other of held) other.release()
        released = true
        permit.release()
      }
      return { lost: permit.lost, release, [Symbol.dispose]: release }
    },
  }
}
