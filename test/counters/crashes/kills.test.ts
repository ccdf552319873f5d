import { describe } from '@jest/globals'
import { killClaims } from './kill-claims.ts'

describe('counters whose process or server is killed', () => {
  killClaims(2, 60_000)
})
