import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { inflightLimit } from '@sluice/node-http'
import { eachSeed, until } from '@sluice/testkit'
import express from 'express'
import Koa from 'koa'
import { http1Life } from './lives/http1-life.ts'
import { randomHandler } from './lives/life-handlers.ts'

// the copy of node-http
const requireOfOurs = createRequire(join(process.cwd(), 'packages/node-http/package.json'))
const onFinished: (res: ServerResponse, run: () => void) => void = requireOfOurs('on-finished')

/** What was seen of one response, in turns of the event loop after its first sign. */
interface Seen {
  /** Whether the response had its connection, so that on-finished reports its end. */
  hadTurn: boolean
  isHeld?: boolean
  finished?: number
  released?: number
}

const LIVES = 12
const AT_ONCE = 4

type Stack = (first: Step, second: Step) => (req: IncomingMessage, res: ServerResponse) => unknown
type Step = (req: IncomingMessage, res: ServerResponse, next: () => unknown) => unknown

const stacks: Readonly<Record<string, Stack>> = {
  'node:http': (first, second) => (req, res) => first(req, res, () => second(req, res, () => {})),
  Express: (first, second) => express().use(first).use(second) as never,
  Koa: (first, second) => {
    const app = Object.assign(new Koa(), { silent: true }).use((ctx, next) => {
      ctx.respond = false
      return first(ctx.req, ctx.res, next) as never
    })
    return app.use((ctx) => second(ctx.req, ctx.res, () => {}) as never).callback()
  },
}

test.each(Object.entries(stacks))(
  'a permit is released in the turn in which on-finished reports, on %s',
  async (_name, stack) => {
    let compared = 0
    await eachSeed(40, async (random) => {
      let turn = 0
      let isOver = false
      const count = (): void => {
        turn++
        if (!isOver) setImmediate(count)
      }
      setImmediate(count)
      const all: Seen[] = []
      const cap = inflightLimit({
        limit: 1_000,
        key: () => String(all.length - 1),
        observers: [
          {
            permitAcquired: (key: string) => {
              all[Number(key)].isHeld = true
            },
            permitReleased: (key: string) => {
              all[Number(key)].released = turn
            },
          },
        ],
      })
      const handler = randomHandler(random)
      const watched: Step = (req, res, next) => {
        const seen: Seen = { hadTurn: res.socket !== null }
        res.once('socket', () => {
          seen.hadTurn = true
        })
        all.push(seen)
        onFinished(res, () => {
          seen.finished = turn
        })
        return cap(req, res, next)
      }
      const server = createServer(stack(watched, (req, res) => handler(req, res)))
      const port = await listening(server)
      const visit = async (): Promise<void> => {
        for (let life = 0; life < LIVES; life++) await http1Life(port, random)
      }
      await Promise.all(Array.from({ length: AT_ONCE }, visit))
      server.closeAllConnections()
      const held = (): Seen[] => all.filter(({ isHeld }) => isHeld)
      await until(() => held().every(({ released }) => released !== undefined), { what: 'the release of every permit' })
      await until(() => held().every(({ hadTurn, finished }) => !hadTurn || finished !== undefined), {
        what: 'every end',
      })
      isOver = true
      const apart = held().filter(
        ({ finished, released = 0 }) => finished !== undefined && Math.abs(finished - released) > 1,
      )
      expect(apart).toEqual([])
      compared += held().filter(({ finished }) => finished !== undefined).length
      server.close()
    })
    expect(compared).toBeGreaterThan(100)
  },
)

async function listening(server: Server): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return (server.address() as AddressInfo).port
}
