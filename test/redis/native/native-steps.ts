import { eachSeed } from '@sluice/testkit'
import { startIncrexProxy } from '../../services/redis/increx-proxy.ts'
import { startRedis } from '../../services/redis/redis-server.ts'
import { liveAlike } from './step-histories.ts'

interface Lived {
  /** Steps of all histories together. */
  readonly steps: number
  /** `INCREX` commands of these steps. */
  readonly commands: number
}

/** Runs random histories of this many steps each on a new server. */
export async function liveNatively(histories: number, steps: number): Promise<Lived> {
  const server = await startRedis()
  let now = 0
  const proxy = await startIncrexProxy(server.port, { serverTime: () => now })
  const clients = {
    withCommand: server.client({ port: proxy.port }),
    withoutCommand: server.client(),
    setTime: (ms: number) => {
      now = ms
    },
  }
  try {
    await Promise.all([clients.withCommand.ping(), clients.withoutCommand.ping()])
    let lived = 0
    await eachSeed(histories, async (random) => {
      lived += await liveAlike(clients, random, steps)
      await clients.withoutCommand.flushall()
    })
    return { steps: lived, commands: proxy.received }
  } finally {
    await proxy.stop()
    await server.stop()
  }
}
