import { test } from '@jest/globals'
import { frameworks } from './frameworks.ts'
import { abortAtRandom } from './random-aborts.ts'

test.each(Object.entries(frameworks))(
  '%s holds no place after 1,000 clients who left at random moments',
  (_name, framework) => abortAtRandom(framework, 1_000),
  20_000,
)
