// Handlers that wait forever for an event of their abandoned response, each behind a cap that waits for them. Prints
// how many permits are still held after garbage collection, by framework.
import { once } from 'node:events'
import { until } from '@sluice/testkit'
import { CappedServer } from '../capped-server.ts'
import type { Handler } from '../frameworks/framework.ts'
import { frameworks } from '../frameworks/frameworks.ts'
import { GET } from '../raw-client.ts'

const CLIENTS = 5

/** Waits in turn for `drain`, for the callback of `end`, and for a promise that never settles. */
const stuck: readonly Handler[] = [
  async (_req, res) => {
    while (res.write(Buffer.alloc(1_000_000))) {}
    await once(res, 'drain')
    res.end()
  },
  (_req, res) => new Promise<void>((resolve) => res.end(Buffer.alloc(10_000_000), resolve)),
  () => new Promise(() => {}),
]

async function heldBehind(name: string): Promise<number> {
  let entered = 0
  const capped = await CappedServer.of(frameworks[name], (req, res) => stuck[entered++ % stuck.length](req, res), {
    wrapped: true,
  })
  for (let sent = 1; sent <= CLIENTS; sent++) {
    const client = await capped.client()
    client.send(GET + GET + GET)
    await until(() => capped.entered >= sent)
  }
  for (const client of capped.clients) client.leave()
  await capped.quiet()
  const collected = (): boolean => {
    global.gc?.()
    return capped.watcher.held === 0
  }
  await until(collected).catch(() => {})
  return capped.watcher.held
}

async function main(): Promise<void> {
  const held: Record<string, number> = {}
  for (const name of Object.keys(frameworks)) held[name] = await heldBehind(name)
  process.stdout.write(JSON.stringify(held))
  process.exit(0)
}

main().catch((error) => {
  process.stderr.write(`${error.stack}\n`)
  process.exit(1)
})
