import { describe } from '@jest/globals'
import { killClaims } from './kill-claims.ts'

describe('quotas that are killed again and again', () => {
  killClaims({ process: 100, postgres: 100, embedded: 100 }, 900_000)
})
