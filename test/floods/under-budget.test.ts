import { describe, expect, test } from '@jest/globals'
import { everyAlgorithm, MIB, scene } from './scene.ts'

const KEYS = 60_000

describe.each(everyAlgorithm)('%s, under its budget', (algorithm) => {
  test('counts every key exactly and evicts no key', () => {
    const { limiter, told } = scene([{ algorithm, limit: 3, window: '1d' }], 8 * MIB)
    for (let key = 0; key < KEYS; key++) limiter.take(`client-${key}`, key % 4)
    let wrong = 0
    for (let key = 0; key < KEYS; key++) {
      if (limiter.peek(`client-${key}`).verdicts[0].remaining !== 3 - (key % 4)) wrong++
    }
    expect({ wrong, ...told }).toEqual({ wrong: 0, evicted: 0, spilled: 0 })
  })
})
