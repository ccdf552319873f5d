import { describe, test } from '@jest/globals'
import { leasedBackend, redisBackend } from '@sluice/redis'
import { banContract, FakeClock } from '@sluice/testkit'
import { singleServerClients } from '../redis/connected-clients.ts'
import { ownPrefix } from '../redis/exact/own-prefix.ts'
import { forTests } from '../services/for-tests.ts'
import { redisForTests } from '../services/redis/redis-for-tests.ts'

const redis = redisForTests()
const connected = forTests(
  () => {
    const { port } = redis.server
    const [[, connect]] = singleServerClients
    return Promise.all([connect(port), connect(port), connect(port)])
  },
  (clients) => Promise.all(clients.map((one) => one.close())),
)

describe.each([
  ['redisBackend', redisBackend],
  ['leasedBackend', leasedBackend],
])('%s of several processes', (_name, backendOf) =>
  banContract({ describe, test }, (processes) => {
    const clock = new FakeClock({ nowMs: 1_000 })
    const prefix = ownPrefix()
    const backends = connected.current
      .slice(0, processes)
      .map(({ client }) => backendOf(client, { prefix, serverTime: () => clock.now(), clock }))
    return {
      clock,
      backends,
      close: () => {
        for (const backend of backends) void backend.close?.()
      },
    }
  }),
)
