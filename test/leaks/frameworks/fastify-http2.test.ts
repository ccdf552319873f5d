import { once } from 'node:events'
import { type ClientHttp2Session, connect, constants } from 'node:http2'
import { afterEach, describe, expect, test } from '@jest/globals'
import { until } from '@sluice/testkit'
import { type FastifyInstance, fastify } from 'fastify'
import { fastify4 } from '../../adapters/fastify/fastify4.ts'
import { type FastifyHandler, FastifySite } from './fastify-site.ts'

describe.each([
  ['Fastify 5', fastify],
  ['Fastify 4', fastify4],
])('the plugin of %s with http2: true', (_name, make) => {
  let site: FastifySite
  let session: ClientHttp2Session
  const serve = async (handler: FastifyHandler): Promise<void> => {
    site = await new FastifySite(make({ http2: true }) as unknown as FastifyInstance).open(handler)
    session = connect(`http://127.0.0.1:${site.port}`)
    session.on('error', () => {})
    await once(session, 'connect')
  }
  afterEach(async () => {
    session.destroy()
    await site.close()
  })

  test('releases the permits of streams that the client resets', async () => {
    await serve(() => new Promise(() => {}))
    const streams = Array.from({ length: 20 }, () => session.request({ ':path': '/' }).on('error', () => {}))
    await until(() => site.entered === 20)
    for (const stream of streams) stream.close(constants.NGHTTP2_CANCEL)
    await site.released(20)
  })

  test('sends denials with the same bytes, and keeps the session open', async () => {
    await serve(() => new Promise(() => {}))
    const { watcher } = site
    const held = Array.from({ length: 100 }, () => session.request({ ':path': '/' }).on('error', () => {}))
    await until(() => watcher.held === 100)
    const denied = session.request({ ':path': '/' })
    const [headers] = await once(denied, 'response')
    expect(headers).toMatchObject({
      ':status': 503,
      'content-type': 'application/problem+json',
      'content-length': '168',
      ratelimit: '"inflight";r=0',
    })
    denied.close()
    for (const stream of held) stream.close(constants.NGHTTP2_CANCEL)
    await site.released(100)
  })
})
