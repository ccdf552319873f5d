import type { IncomingMessage, ServerResponse } from 'node:http'
import { baseSeed, type SeededRandom, seededRandom, until } from '@sluice/testkit'
import { CappedServer } from './capped-server.ts'
import type { Framework, Handler } from './frameworks.ts'
import { GET, type RawClient } from './raw-client.ts'

const AT_ONCE = 40
const UPLOAD = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab'

/**
 * Clients who leave at moments drawn from a seed, of a server whose handlers take their time by the same seed; then a
 * few who stay. Every place must have come back, once.
 */
export async function abortAtRandom(framework: Framework, times: number): Promise<void> {
  const random = seededRandom(baseSeed())
  const capped = await CappedServer.of(framework, (req, res) => random.pick(handlers)(req, res))
  let left = times
  const visitor = async (): Promise<void> => {
    while (left-- > 0) await visit(capped, random)
  }
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, visitor))
    await capped.quiet()
    await capped.allReleased(capped.watcher.acquired)
    await capped.close()
  } catch (error) {
    throw new Error(`SLUICE_SEED=${baseSeed()}: ${error}`, { cause: error })
  }
}

const handlers: readonly Handler[] = [
  (_req, res) => res.end('ok'),
  (req, res) => req.resume().on('end', () => res.end('ok')),
  () => {},
  (_req, res) => setImmediate(() => res.end('ok')),
  (_req, res) => res.end(Buffer.alloc(1_000_000)),
  dripping,
  (_req, res) => setImmediate(() => res.destroy()),
]

function dripping(_req: IncomingMessage, res: ServerResponse): void {
  const drip = (left: number): void => {
    if (res.destroyed) return
    if (left === 0) res.end()
    else {
      res.write('drip')
      setImmediate(drip, left - 1)
    }
  }
  drip(5)
}

async function visit(capped: CappedServer, random: SeededRandom): Promise<void> {
  const client = await capped.client()
  capped.clients.splice(capped.clients.indexOf(client), 1)
  client.send(random.pick([GET, GET + GET, UPLOAD, `${UPLOAD}cde`, GET.slice(0, 20)]))
  await random.pick(moments)(client, random)
  if (random.whole(2) === 0) client.leave()
  else client.socket.end(() => client.leave())
  await client.closed()
}

const moments: readonly ((client: RawClient, random: SeededRandom) => unknown)[] = [
  () => {},
  () => new Promise(setImmediate),
  (_client, random) => turns(random.whole(8)),
  (client, random) => Promise.race([until(() => client.heard !== ''), turns(random.whole(30))]),
]

/** Lets the server have some turns of the event loop. */
async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise(setImmediate)
}
