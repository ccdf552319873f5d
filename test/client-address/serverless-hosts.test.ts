import { describe, expect, test } from '@jest/globals'
import { createSluice, explainClient as explainFetch, type FetchInfo } from '@sluice/fetch'
import { explainClient, rateLimit } from '@sluice/hono'
import type { ProxyTrustOption } from '@sluice/http'
import { Hono } from 'hono'
import { handle as lambda } from 'hono/aws-lambda'
import { handle as edge } from 'hono/lambda-edge'
import { handle as netlify } from 'hono/netlify'
import { handle as vercel } from 'hono/vercel'

interface Answer {
  readonly status: number
  readonly body: string
}

/** Sends a request of a client to an application on a host, with a header that the client has forged. */
type Host = (app: Hono, client: string) => Promise<Answer>

const FORGED = '198.51.100.66'

/** Headers as a load balancer passes them on: it appends the address of its client. */
const appended = (client: string) => ({ host: 'api.example', 'x-forwarded-for': `${FORGED}, ${client}` })

async function ofLambda(app: Hono, event: object): Promise<Answer> {
  const { statusCode, body } = await lambda(app)(event as never, {} as never)
  return { status: statusCode, body }
}

async function ofResponse(response: Response | Promise<Response>): Promise<Answer> {
  const { status, ...rest } = { status: (await response).status, body: await (await response).text() }
  return { status, ...rest }
}

const request = (headers: Record<string, string> = {}) => new Request('https://api.example/', { headers })

const events = {
  'API Gateway, version 1': (client: string) => ({
    version: '1.0',
    httpMethod: 'GET',
    path: '/',
    headers: appended(client),
    multiValueHeaders: {},
    requestContext: { identity: { sourceIp: client }, domainName: 'api.example' },
  }),
  'API Gateway, version 2': (client: string) => ({
    version: '2.0',
    rawPath: '/',
    rawQueryString: '',
    headers: appended(client),
    requestContext: { domainName: 'api.example', http: { method: 'GET', path: '/', sourceIp: client } },
  }),
  'load balancer': (client: string) => ({
    httpMethod: 'GET',
    path: '/',
    queryStringParameters: {},
    headers: appended(client),
    body: '',
    requestContext: { elb: { targetGroupArn: 'arn' } },
  }),
  'Lambda@Edge': (client: string) => ({
    Records: [
      {
        cf: {
          config: { distributionDomainName: 'd', distributionId: 'd', eventType: 'viewer-request', requestId: 'r' },
          request: {
            clientIp: client,
            headers: { host: [{ key: 'Host', value: 'api.example' }] },
            method: 'GET',
            querystring: '',
            uri: '/',
          },
        },
      },
    ],
  }),
}

const hosts: readonly (readonly [name: string, host: Host, trust?: ProxyTrustOption])[] = [
  ['AWS Lambda, API Gateway 1', (app, client) => ofLambda(app, events['API Gateway, version 1'](client))],
  ['AWS Lambda, API Gateway 2', (app, client) => ofLambda(app, events['API Gateway, version 2'](client))],
  ['AWS Lambda, load balancer', (app, client) => ofLambda(app, events['load balancer'](client)), 'aws-alb'],
  [
    'Lambda@Edge',
    async (app, client) => {
      const answer = await edge(app)(events['Lambda@Edge'](client) as never)
      const { status, body } = answer as { status: string; body: string }
      return { status: Number(status), body }
    },
  ],
  ['Netlify', (app, client) => ofResponse(netlify(app)(request(), { ip: client } as never) as Promise<Response>)],
  [
    'Vercel',
    (app, client) => {
      const headers = { 'x-forwarded-for': FORGED, 'x-real-ip': client, 'x-vercel-forwarded-for': client }
      return ofResponse(vercel(app)(request(headers)))
    },
    'vercel',
  ],
  [
    'a host without an address, such as Azure Functions',
    (app, client) => ofResponse(app.fetch(request(appended(`${client}:5678`)))),
    { ranges: ['unknown'], header: 'x-forwarded-for' },
  ],
]

describe.each(hosts)('on %s', (_name, host, trust) => {
  const options = trust === undefined ? {} : { trust }
  const application = () => {
    const app = new Hono()
    app.use(rateLimit({ limit: 1, window: '10m', ...options }))
    return app.get('/', (c) => c.text(explainClient(c, options).key))
  }

  test('each client of Hono is counted apart, and a forged header changes nothing', async () => {
    const app = application()
    const answers = []
    for (const client of ['192.0.2.1', '192.0.2.2', '192.0.2.1']) answers.push(await host(app, client))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 429])
    expect(answers.slice(0, 2).map(({ body }) => body)).toEqual(['192.0.2.1', '192.0.2.2'])
  })
})

describe('a fetch handler that receives the event of a function', () => {
  test.each(Object.entries(events))('of %s counts its client', async (name, event) => {
    const trust = name === 'load balancer' ? 'aws-alb' : undefined
    const limit = createSluice(trust ? { trust } : {}).rateLimit({ limit: 1, window: '10m' })
    const handler = limit.wrap((_request: Request, _event: object) => new Response('hello'))
    const statuses = []
    for (const client of ['192.0.2.1', '192.0.2.2', '192.0.2.1']) {
      const sent = request(appended(client))
      expect(explainFetch(sent, event(client) as FetchInfo, trust ? { trust } : {}).address).toBe(client)
      statuses.push((await handler(sent, event(client))).status)
    }
    expect(statuses).toEqual([200, 200, 429])
  })

  test('does not count the header of a load balancer that is not trusted', () => {
    const event = events['load balancer']('192.0.2.1') as FetchInfo
    expect(explainFetch(request(appended('192.0.2.1')), event).key).toBe('no-address')
    expect(explainFetch(request(appended('192.0.2.1')), event, { trust: 'nginx' }).key).toBe('no-address')
  })
})

test('an empty address, as adapters of serverless functions pass it, is not an address', () => {
  const info: FetchInfo = { incoming: { socket: { remoteAddress: '' } } }
  expect(explainFetch(request(), info).key).toBe('no-address')
  const trust: ProxyTrustOption = { ranges: ['unknown'], header: 'x-forwarded-for' }
  expect(explainFetch(request(appended('192.0.2.1')), info, { trust }).key).toBe('192.0.2.1')
})
