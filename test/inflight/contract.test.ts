import { describe, test } from '@jest/globals'
import { createInflightLimiter, type InflightBackend } from '@sluice/limiter-core'
import { inflightContract } from '@sluice/testkit'

describe('createInflightLimiter', () =>
  inflightContract({ describe, test }, (options) => createInflightLimiter(options)))

describe('createInflightLimiter over an asynchronous backend', () =>
  inflightContract({ describe, test }, ({ observers, ...options }) => {
    const local = createInflightLimiter({ ...options, observers })
    const backend: InflightBackend = {
      acquire: async (key, asked) => local.acquire(key, asked) ?? { allowed: false, retryAfterMs: 1_000 },
      count: async (key) => local.count(key),
    }
    return createInflightLimiter({ limit: options.limit, backend })
  }))
