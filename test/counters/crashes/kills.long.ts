import { describe } from '@jest/globals'
import { killClaims } from './kill-claims.ts'

describe('counters whose process or server is killed many times', () => {
  killClaims(100, 900_000)
})
