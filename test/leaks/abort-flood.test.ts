import { describe, expect, test } from '@jest/globals'
import { until } from '@sluice/testkit'
import { CappedServer } from './capped-server.ts'
import type { Handler } from './frameworks/framework.ts'
import { frameworks } from './frameworks/frameworks.ts'
import { GET } from './raw-client.ts'

const FLOOD = 40

/** A handler that continues after its client has disconnected, as database calls do. */
class Workers {
  running = 0
  most = 0
  finish: () => void = () => {}
  readonly #finished = new Promise<void>((resolve) => {
    this.finish = resolve
  })

  readonly handler: Handler = async (_req, res) => {
    this.running++
    this.most = Math.max(this.most, this.running)
    await this.#finished
    this.running--
    res.end()
  }
}

/** Sends `FLOOD` requests; each client disconnects as soon as the server has accepted or denied its request. */
async function flood(capped: CappedServer): Promise<void> {
  const { watcher } = capped
  for (let sent = 1; sent <= FLOOD; sent++) {
    const client = await capped.client()
    client.send(GET)
    await until(() => watcher.acquired + watcher.denied === sent)
    client.leave()
    await client.closed()
  }
}

describe.each(Object.entries(frameworks))(
  '%s, flooded by clients that send a request and disconnect,',
  (_name, framework) => {
    test('runs no more handlers than permits if the cap wraps the handler', async () => {
      const workers = new Workers()
      const capped = await CappedServer.of(framework, workers.handler, { cap: { limit: 2 }, wrapped: true })
      await flood(capped)
      expect([workers.most, capped.watcher.denied, capped.watcher.held]).toEqual([2, FLOOD - 2, 2])
      workers.finish()
      await capped.allReleased(2)
      await capped.close()
    })

    test('runs more handlers if the cap waits only for responses, as documented', async () => {
      const workers = new Workers()
      const capped = await CappedServer.of(framework, workers.handler, { cap: { limit: 2 } })
      const { watcher } = capped
      for (let sent = 1; sent <= FLOOD; sent++) {
        const client = await capped.entering(GET)
        client.leave()
        await until(() => watcher.released === sent)
      }
      expect([workers.most, watcher.mostHeld]).toEqual([FLOOD, 1])
      workers.finish()
      await capped.close()
    })

    test.each<[string, Handler]>([
      ['returns without a response', async () => {}],
      ['responds at once', (_req, res) => res.end('ok')],
    ])('releases the permit of a wrapped handler that %s', async (_what, handler) => {
      const capped = await CappedServer.of(framework, handler, { cap: { limit: 1 }, wrapped: true })
      for (let sent = 1; sent <= 3; sent++) {
        const client = await capped.entering(GET)
        client.leave()
        await capped.allReleased(sent)
      }
      await capped.close()
    })
  },
)
