import { test } from '@jest/globals'
import { assertEqualsModel } from './against-model.ts'
import { algorithmNames } from './any-policy.ts'

test.each(algorithmNames)(
  '%s equals its slow model in 10,000 histories of up to 200 events',
  (algorithm) => {
    assertEqualsModel(algorithm, 10_000, 200)
  },
  3_600_000,
)
