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
  'admits one call too many': (_, options) => createInflightLimiter({ ...options, limit: options.limit + 1 }),
  'counts every release': (cap) => countingEveryRelease(cap),
  'never reclaims permits after maxHoldMs': (_, { maxHoldMs: _bound, ...options }) => createInflightLimiter(options),
  'ignores the weight of a call': (cap) => ({ ...plainCap(cap), acquire: (key) => cap.acquire(key) }),
  'shares one count among all keys': (cap) => ({
    ...plainCap(cap),
    acquire: (_key, options) => cap.acquire('', options),
  }),
  'never notifies observers': (_, options) => createInflightLimiter({ ...options, observers: [] }),
}

describe('the in-flight contract', () => {
  test('finds no fault if the wrapper changes nothing', async () => {
    const failed = await firstFailedClaim((runner) =>
      inflightContract(runner, (options) => plainCap(createInflightLimiter(options))),
    )
    expect(failed).toBeUndefined()
  })

  test.each(Object.entries(capFaults))('detects a faulty cap that %s', async (_, fault) => {
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
    limitOf: (key) => cap.limitOf(key),
    acquire: (key, options) => cap.acquire(key, options),
    count: (key) => cap.count(key),
    close: () => cap.close(),
  }
}

// a second release of one permit also releases the permits of other callers
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
