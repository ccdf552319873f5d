import { test } from '@jest/globals'
import { expectNothingLeft, STORMS } from './storms/storm.ts'

// all frameworks run in abort-storm.long.ts
test.each(STORMS.filter(([framework, version]) => framework === 'Express 5' || version === 2))(
  '%s over HTTP/%d: 5,000 requests that were left alone leave nothing behind',
  (framework, version) => expectNothingLeft(framework, version, 5_000),
)
