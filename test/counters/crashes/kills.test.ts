import { describe } from '@jest/globals'
import { killClaims } from './kill-claims.ts'

describe('counters whose process or server is killed', () => {
  killClaims(1, 60_000)
})
