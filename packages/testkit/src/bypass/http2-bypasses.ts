import assert from 'node:assert/strict'
import { constants } from 'node:http2'
import { until } from '../adapter/stage/until.ts'
import type { TestRunner } from '../suite-runner.ts'
import type { LimitedRoute } from './limited-route.ts'

const STREAMS = 100

/** What only HTTP/2 permits: many requests in one write, and requests that their client cancels at once. */
export function http2Bypasses(
  { test }: TestRunner,
  onRoute: (visit: (route: LimitedRoute) => Promise<void>) => Promise<void>,
): void {
  test(`of ${STREAMS} streams in one write, as many as the limit allows are handled`, () =>
    onRoute(async (route) => {
      await route.learn()
      const handled = (await streams(route)).filter((isHandled) => isHandled)
      assert.equal(handled.length, route.left)
    }))

  test('streams that their client cancels at once hold nothing', () =>
    onRoute(async (route) => {
      await route.learn()
      const { session } = route
      for (let turn = 0; turn < STREAMS; turn++) {
        const stream = session.request(route.headersOf(route.plain))
        stream.on('error', () => {})
        stream.close(constants.NGHTTP2_CANCEL)
      }
      await new Promise<void>((resolve, reject) => session.ping((error) => (error ? reject(error) : resolve())))
      await untilFree(route)
    }))
}

/** Sends the plain request in many streams at once, and returns which of them the handler answered. */
function streams(route: LimitedRoute): Promise<boolean[]> {
  const { session } = route
  // streams of one turn are sent in one write
  return Promise.all(
    Array.from({ length: STREAMS }, async () => {
      const stream = session.request(route.headersOf(route.plain))
      stream.end()
      let status = 0
      stream.on('response', (head) => {
        status = Number(head[':status'])
      })
      let body = ''
      stream.setEncoding('latin1').on('data', (chunk: string) => {
        body += chunk
      })
      await new Promise<void>((resolve, reject) => stream.once('close', resolve).once('error', reject))
      return route.isOfHandler({ status, headers: {}, body })
    }),
  )
}

async function untilFree(route: LimitedRoute): Promise<void> {
  let held = await route.held()
  const read = async (): Promise<void> => {
    held = await route.held()
  }
  await until(
    () => {
      void read()
      return held === 0
    },
    { what: 'that all places are free' },
  )
}
