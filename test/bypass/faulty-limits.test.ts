import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from '@jest/globals'
import { rateLimit } from '@sluice/node-http'
import { type BypassContractOptions, bypassContract, type LimitedApp } from '@sluice/testkit'
import { CollectedTests } from '../runtimes/programs/collected-tests.ts'

async function served(listener: RequestListener, kept?: () => number): Promise<LimitedApp> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    ...(kept && { kept }),
    close: async () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

const isLogin = ({ url = '' }: IncomingMessage): boolean => /^\/+login\/?([?;]|$)/i.test(url)

/** An application whose limit counts by a key, and applies to some requests only. */
function countedBy(key: (req: IncomingMessage) => string, applies = (_req: IncomingMessage) => true, kept = key) {
  return () => {
    const keys = new Set<string>()
    const limit = rateLimit({
      limit: 3,
      window: '1h',
      key: (req) => {
        keys.add(kept(req))
        return key(req)
      },
      skip: (req) => !applies(req),
    })
    const handle = limit.wrap((_req, res) => void res.end('welcome'))
    return served(
      (req, res) => {
        if (isLogin(req)) handle(req, res)
        else res.writeHead(404).end()
      },
      () => keys.size,
    )
  }
}

const one = (): string => 'one'
const header = (name: string) => (req: IncomingMessage) => String(req.headers[name])

async function failuresOf(start: () => Promise<LimitedApp>, options: BypassContractOptions = {}): Promise<string> {
  const tests = new CollectedTests()
  const preflight = 'the handler accepts all methods, and preflights have a count of their own'
  bypassContract(tests, start, { ...options, except: { preflight, ...options.except } })
  return (await tests.run()).failed.join('\n')
}

test('a limit of one count passes', async () => {
  expect(await failuresOf(countedBy(one))).toBe('')
})

test.each<[string, () => Promise<LimitedApp>, readonly string[]]>([
  ['the target', countedBy(({ url = '' }) => url), ['/LOGIN', '//login', '/login?x=1', '/login;jsessionid=1']],
  ['the path', countedBy(({ url = '' }) => url.split('?', 1)[0]), ['/LOGIN', '/login/', 'matrix parameter']],
  ['the method', countedBy(({ method = '' }) => method), ['HEAD', 'QUERY', 'PUT']],
  ['a header of proxies', countedBy(header('x-forwarded-for')), ['x-forwarded-for']],
  ['the host', countedBy(header('host')), ['another Host', 'host that changes']],
])('the suite names the spellings that escape a limit by %s', async (_name, start, names) => {
  const failures = await failuresOf(start)
  for (const name of names) expect(failures).toContain(name)
})

test('the suite notices an application that keeps an entry for each spelling', async () => {
  const failures = await failuresOf(countedBy(one, undefined, header('user-agent')))
  expect(failures).toContain('the application keeps more entries after')
  expect(failures).not.toContain('reached the handler')
})

test('the suite names the spellings that a limit of an exact path lets pass', async () => {
  const failures = await failuresOf(countedBy(one, ({ url }) => url === '/login'))
  expect(failures).toContain('//login')
  expect(failures).toContain('in rotation')
})

test('spellings that are named in except may be counted separately', async () => {
  const start = countedBy(header('x-forwarded-for'))
  expect(await failuresOf(start, { except: { 'x-forwarded-for': 'the test is a proxy' } })).toBe('')
})

test('an application without a limit, and one whose responses differ, are refused', async () => {
  expect(await failuresOf(countedBy(one, () => false))).toContain('the limit allowed more than 3 plain requests')
  let turn = 0
  const random = (): Promise<LimitedApp> => served((_req, res) => void res.end(String(turn++)))
  expect(await failuresOf(random)).toContain('pass the option isHandled')
})
