import { test } from '@jest/globals'
import { baseSeed } from '@sluice/testkit'
import { expectNothingLeft, STORMS } from './storms/storm.ts'

test.each(STORMS)(
  '%s over HTTP/%d: 200,000 requests that were left alone leave nothing behind',
  async (framework, version) => {
    for (let run = 0; run < 10; run++) await expectNothingLeft(framework, version, 20_000, baseSeed() + run)
  },
  1_200_000,
)
