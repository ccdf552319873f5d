import { test } from '@jest/globals'
import { assertEqualsModel } from './against-model.ts'
import { algorithmNames } from './any-policy.ts'

test.each(algorithmNames)(
  '%s equals its slow model over takes, peeks, refunds, late charges and waits',
  (algorithm) => {
    assertEqualsModel(algorithm, 400, 40)
  },
)
