import { test } from '@jest/globals'
import { expectNothingLeft, STORMS } from './storms/storm.ts'

test.each(STORMS)('%s over HTTP/%d: 10,000 requests that were left alone leave nothing behind', (framework, version) =>
  expectNothingLeft(framework, version, 10_000),
)
