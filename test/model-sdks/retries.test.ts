import { afterEach, describe, expect, jest, test } from '@jest/globals'
import { inflightLimit, rateLimit } from '@sluice/express'
import { type RunningApp, until } from '@sluice/testkit'
import express, { type RequestHandler } from 'express'
import { running } from '../adapters/running-app.ts'
import { type Sdk, sdks } from './sdks.ts'

let app: RunningApp | undefined
afterEach(async () => {
  jest.restoreAllMocks()
  await app?.close()
})

/** A server of the vendor's API behind a limit. */
async function serve(
  sdk: Sdk,
  limit: RequestHandler,
  handler: RequestHandler = (_req, res) => void res.json(sdk.answer),
) {
  const statuses: number[] = []
  const waits: number[] = []
  const server = express()
  server.use((_req, res, next) => {
    res.once('finish', () => {
      statuses.push(res.statusCode)
      if (res.hasHeader('retry-after-ms')) waits.push(Number(res.getHeader('retry-after-ms')))
    })
    next()
  })
  server.post(sdk.path, limit, handler)
  app = await running(server)
  return { url: `http://127.0.0.1:${app.port}`, statuses, waits }
}

// the clients wait in real time, so windows are short
const WINDOW = '500ms'

describe.each(sdks)('the client $name', (sdk) => {
  const { name: headers } = sdk

  test('succeeds with its first retry after a rate limit', async () => {
    const timers = jest.spyOn(globalThis, 'setTimeout')
    const { url, statuses, waits } = await serve(sdk, rateLimit({ limit: 1, window: WINDOW, headers }))
    await Promise.all([sdk.ask(url), sdk.ask(url)])
    expect(statuses).toEqual([200, 429, 200])
    expect(timers.mock.calls.map(([, ms]) => ms)).toContain(waits[0])
  })

  test('succeeds with its first retry after a limit of tokens, and reads what is left', async () => {
    const tokens = { name: 'tokens', limit: 1_000, window: WINDOW, algorithm: 'token-bucket', unit: 'tokens' } as const
    const policies = [
      { name: 'requests', limit: 100, window: '1m' },
      { ...tokens, cost: 900 },
    ] as const
    const { url, statuses } = await serve(sdk, rateLimit({ policies, headers }))
    const [first] = await Promise.all([sdk.ask(url), sdk.ask(url)])
    expect(statuses).toEqual([200, 429, 200])
    const field = headers === 'openai' ? 'x-ratelimit-remaining-tokens' : 'anthropic-ratelimit-tokens-remaining'
    expect(first.get(field)).toBe('100')
  })

  test('succeeds with its first retry after a full cap', async () => {
    let open = (): void => {}
    const opened = new Promise<void>((resolve) => {
      open = resolve
    })
    const { url, statuses } = await serve(sdk, inflightLimit({ limit: 1, headers }), async (_req, res) => {
      await opened
      res.json(sdk.answer)
    })
    const both = Promise.all([sdk.ask(url), sdk.ask(url)])
    await until(() => statuses.length === 1, { what: 'a denial' })
    open()
    await both
    expect(statuses).toEqual([503, 200, 200])
  })

  test('does not retry a request that can never pass, and reads the error in the body', async () => {
    const error = { type: 'rate_limit_error', code: 'rate_limit_exceeded', message: 'The prompt is too long.' }
    const message = { type: 'error', error }
    const limit = rateLimit({ limit: 10, window: '1m', unit: 'tokens', cost: () => 11, headers, message })
    const { url, statuses } = await serve(sdk, limit)
    const failure = await sdk.ask(url).catch((thrown: unknown) => thrown)
    expect(failure).toMatchObject({ status: 429, type: 'rate_limit_error' })
    expect(String(failure)).toContain('The prompt is too long.')
    expect(statuses).toEqual([429])
  })
})
