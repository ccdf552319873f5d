// A server whose own listeners throw before ours are called. Prints how many permits are held after each kind of end.
import type { ServerResponse } from 'node:http'
import { constants } from 'node:http2'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { until } from '@sluice/testkit'
import { CappedServer } from '../capped-server.ts'
import type { Handler } from '../frameworks/framework.ts'
import { frameworks } from '../frameworks/frameworks.ts'
import { Http2Site, overHttp2 } from '../frameworks/http2-site.ts'
import { GET } from '../raw-client.ts'

// the copy that node-http uses for its listeners
const requireOfOurs = createRequire(join(process.cwd(), 'packages/node-http/package.json'))
const onFinished: (res: ServerResponse, run: () => void) => void = requireOfOurs('on-finished')
const caught: string[] = []
process.on('uncaughtException', (error) => caught.push(error.message))

const fail = (): never => {
  throw new Error('a listener of the application')
}

type Listen = (...of: Parameters<Handler>) => unknown
const listening: Readonly<Record<string, Listen>> = {
  "res 'close'": (_req, res) => res.once('close', fail),
  "res 'finish'": (_req, res) => res.once('finish', fail),
  "socket 'close'": (req) => req.socket.prependOnceListener('close', fail),
  "socket 'error'": (req) => req.socket.prependOnceListener('error', fail),
  'on-finished': (_req, res) => onFinished(res, fail),
}
const endings: Readonly<Record<string, Handler>> = {
  answered: (_req, res) => res.end('ok'),
  aborted: () => {},
}

async function heldAfter(framework: string, listen: Listen, ending: string): Promise<number> {
  const capped = await CappedServer.of(frameworks[framework], endings[ending], {
    before: async (req, res) => void listen(req, res),
  })
  const client = await capped.entering(GET)
  if (ending === 'answered') await client.hears('ok')
  client.leave()
  await capped.allReleased(1).catch(() => {})
  const { held } = capped.watcher
  await capped.close().catch(() => {})
  return held
}

async function heldOfStreamAfter(framework: string, listen: Listen, ending: string): Promise<number> {
  const site = new Http2Site(frameworks[framework], endings[ending], async (req, res) => void listen(req, res))
  await site.open()
  const stream = site.ask()
  await until(() => site.entered === 1)
  if (ending === 'aborted') stream.close(constants.NGHTTP2_CANCEL)
  await site.released(1).catch(() => {})
  const { held } = site.watcher
  await site.close().catch(() => {})
  return held
}

async function main(): Promise<void> {
  // keeps the process alive between two servers
  const keep = setInterval(() => {}, 1_000)
  const held: Record<string, number> = {}
  for (const framework of Object.keys(frameworks)) {
    for (const [what, listen] of Object.entries(listening)) {
      for (const ending of Object.keys(endings)) {
        held[`${framework}, ${what}, ${ending}`] = await heldAfter(framework, listen, ending)
      }
    }
  }
  for (const framework of overHttp2) {
    for (const what of ["res 'close'", "res 'finish'", 'on-finished']) {
      for (const ending of Object.keys(endings)) {
        held[`${framework} over HTTP/2, ${what}, ${ending}`] = await heldOfStreamAfter(
          framework,
          listening[what],
          ending,
        )
      }
    }
  }
  clearInterval(keep)
  process.stdout.write(JSON.stringify({ held, caught: caught.length }))
}

main().catch((error) => {
  process.stderr.write(`${error.stack}\n`)
  process.exit(1)
})
