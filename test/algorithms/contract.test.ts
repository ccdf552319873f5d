import { describe, test } from '@jest/globals'
import { algorithms } from '@sluice/limiter-core/backend'
import { algorithmContract } from '@sluice/testkit'

for (const algorithm of Object.values(algorithms)) algorithmContract({ describe, test }, algorithm)
