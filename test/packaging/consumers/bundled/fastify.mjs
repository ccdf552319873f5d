import { sluice } from '@sluice/fastify'
import Fastify from 'fastify'
import { askedTwice } from './asked.mjs'

export async function statuses() {
  const app = Fastify()
  await app.register(sluice, { rateLimit: { limit: 1, window: '1m' }, inflightLimit: { limit: 10 } })
  app.get('/', async () => 'hello')
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  const asked = await askedTwice(() => fetch(url))
  await app.close()
  return asked
}
