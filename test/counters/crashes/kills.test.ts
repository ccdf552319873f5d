import { describe } from '@jest/globals'
import { killClaims } from './kill-claims.ts'

describe('counters that are killed', () => {
  killClaims(2, 60_000)
})
