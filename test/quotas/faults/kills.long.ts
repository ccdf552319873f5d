import { describe } from '@jest/globals'
import { killClaims } from './kill-claims.ts'

describe('quotas whose process or database is killed many times', () => {
  killClaims({ process: 100, postgres: 100, embedded: 100 }, 900_000)
})
