import { once } from 'node:events'
import { request as sendRequest } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { eachSeed, type SeededRandom, until } from '@sluice/testkit'
import { running } from '../../adapters/running-app.ts'
import { collectGarbage } from './collect-garbage.ts'
import { KINDS, randomStack, type Stack } from './random-stack.ts'

const METHODS = ['GET', 'GET', 'GET', 'HEAD', 'POST']
const HEADERS = [{}, { 'if-none-match': '*' }, { 'accept-encoding': 'gzip' }]
/** What the client does: reads the response, or leaves before its head, after its head or after its first bytes. */
const CLIENTS = ['reads', 'reads', 'leaves at once', 'leaves after the head', 'leaves in the body'] as const
const REQUESTS = 4

type Client = (typeof CLIENTS)[number]
interface Sent {
  readonly method: string
  readonly headers: Record<string, string>
  readonly client: Client
}

function sent(random: SeededRandom): Sent {
  return { method: random.pick(METHODS), headers: random.pick(HEADERS), client: random.pick(CLIENTS) }
}

// not spies, which would keep the errors, whose stacks keep the requests
const { error, info } = console
beforeAll(() => {
  Object.assign(console, { error: () => {}, info: () => {} })
})
afterAll(() => {
  Object.assign(console, { error, info })
})

async function withStack(
  random: SeededRandom,
  used: Set<string>,
  run: (stack: Stack, requests: readonly Sent[]) => Promise<void>,
): Promise<void> {
  const stack = randomStack(random, used)
  const requests = Array.from({ length: REQUESTS }, () => sent(random))
  try {
    await run(stack, requests)
    expect([...stack.settlements.values()].filter((times) => times > 1)).toEqual([])
  } catch (error) {
    throw new Error(
      `${stack.text}, ${JSON.stringify(requests)}, ${stack.held()} held, settled ${[...stack.settlements.values()]}: ${error}`,
      {
        cause: error,
      },
    )
  }
}

function isSettled({ settlements }: Stack): boolean {
  return [...settlements.values()].every((times) => times > 0)
}

/** Collects garbage while `isSo` is false: the end of some responses, and of clones that are not read, is their collection. */
function orCollecting(isSo: () => boolean): () => boolean {
  let polls = 0
  return () => {
    if (isSo()) return true
    if (++polls % 10 === 0) collectGarbage()
    return false
  }
}

test('no place stays held on @hono/node-server, and each cost is settled once', async () => {
  const used = new Set<string>()
  // `npm test` runs a quarter of the seeds, which draws every kind
  await eachSeed(200, (random) =>
    withStack(random, used, async (stack, requests) => {
      const { port, close } = await running(getRequestListener(stack.app.fetch))
      let areAnswered = false
      const answered = Promise.all(requests.map((one) => askOverSocket(port, one))).then(() => {
        areAnswered = true
      })
      const hasEnded = () => areAnswered && stack.held() === 0 && isSettled(stack)
      await until(stack.mayVanish ? orCollecting(hasEnded) : hasEnded, { what: 'the end of every request' })
      await answered
      await close()
    }),
  )
  expect(used.size).toBe(KINDS + 2)
})

test('no place stays held without a server, and each cost is settled once', async () => {
  const used = new Set<string>()
  await eachSeed(100, (random) =>
    withStack(random, used, async (stack, requests) => {
      await Promise.all(requests.map((one) => askInProcess(stack, one)))
      const hasEnded = () => stack.held() === 0 && (stack.mayVanish || isSettled(stack))
      await until(orCollecting(hasEnded), { what: 'the end of every request' })
    }),
  )
  expect(used.size).toBeGreaterThan(KINDS - 3)
})

async function askInProcess({ app }: Stack, { method, headers, client }: Sent): Promise<void> {
  const leaving = new AbortController()
  const asked = app.request('/', { method, headers, signal: leaving.signal })
  if (client === 'leaves at once') leaving.abort()
  try {
    const response = await asked
    if (client === 'reads') await response.text()
    // never resolves if the other half of a clone is not read
    if (client === 'leaves after the head') response.body?.cancel().catch(() => {})
    if (client !== 'leaves in the body') return
    await response.body?.getReader().read()
    leaving.abort()
  } catch {
    // the application or the body failed
  }
}

/** Resolves when the client has read the response or has left. */
async function askOverSocket(port: number, { method, headers, client }: Sent): Promise<void> {
  const request = sendRequest({ port, host: '127.0.0.1', method, headers, agent: false })
  request.on('error', () => {})
  request.end(method === 'POST' ? 'body' : undefined)
  if (client === 'leaves at once') {
    await once(request, 'finish')
    request.destroy()
    return
  }
  const response = await Promise.race([once(request, 'response'), once(request, 'close')])
  if (response.length === 0) return
  const [incoming] = response
  incoming.on('error', () => {})
  if (client === 'leaves after the head') {
    request.destroy()
    return
  }
  if (client === 'leaves in the body') incoming.once('data', () => request.destroy())
  incoming.resume()
  if (!incoming.closed) await once(incoming, 'close').catch(() => {})
}
