import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { InsightSnapshot } from '@sluice/insight'
import { numberOfRuns } from '@sluice/testkit'
import { type ChildNode, startNode } from '../../services/processes/child-node.ts'

let child: ChildNode<typeof import('./children/largest-load.ts')>
let crowd: { readonly grownBytes: number; readonly snapshot: InsightSnapshot }

beforeAll(async () => {
  child = startNode('insight/live/children/largest-load.ts', { nodeArgs: ['--expose-gc'] })
  crowd = await child.call('crowd')
})

afterAll(() => child.stop())

function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([name, one]) => [name, ...textsOf(one)])
    : []
}

describe('with a million keys (in a short run, fewer), 100,000 routes, 100 policies and 100 caps, an insight', () => {
  it('stays within the documented memory', () => {
    expect(crowd.grownBytes).toBeGreaterThan(2 ** 20)
    expect(crowd.grownBytes).toBeLessThan(32 * 2 ** 20)
  })

  it('lists the documented number of items, and combines the rest as "other"', () => {
    const { policies, caps, routes, uniques } = crowd.snapshot
    expect([policies.length, caps.length, routes.length, uniques.byRoute?.length]).toEqual([50, 20, 201, 201])
    for (const [names, last] of [
      [policies.map(({ name }) => name), 'other'],
      [caps.map(({ name }) => name), 'other'],
      [routes.map(({ route }) => route), 'other'],
    ] as const) {
      expect(names).toContain(last)
    }
    const decisions = policies.reduce((sum, { total }) => sum + total.allowed, 0)
    expect(decisions).toBe(numberOfRuns(1_000_000) + 100_001)
  })

  it('has no text above 128 characters, and no lone surrogates', () => {
    const texts = textsOf(crowd.snapshot)
    expect(texts.length).toBeGreaterThan(1_000)
    expect(texts.filter((text) => text.length > 128 || /\p{Surrogate}/u.test(text))).toEqual([])
  })
})
