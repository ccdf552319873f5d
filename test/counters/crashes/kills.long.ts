import { describe } from '@jest/globals'
import { killClaims } from './kill-claims.ts'

describe('counters that are killed again and again', () => {
  killClaims(100, 900_000)
})
