import { expect, test } from '@jest/globals'
import { memoryBackend, rateLimit } from '@sluice/node-http'

test.each([{ status: 200 }, { headers: 'draft-99' }, { observers: 5 }, { partitionKey: { secret: '' } }])(
  'a limiter that is rejected for %j does not reserve its name',
  (wrong) => {
    const backend = memoryBackend()
    const api = { name: 'api', window: '1m', backend } as const
    expect(() => rateLimit({ ...api, limit: 100, ...wrong } as never)).toThrow(/SLUICE_BAD_OPTION/)
    expect(() => rateLimit({ ...api, limit: 50 })).not.toThrow()
  },
)
