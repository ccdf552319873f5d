import type { AddressInfo } from 'node:net'
import { sluice } from '@sluice/fastify'
import { fastify } from 'fastify'

const app = fastify()
app.register(sluice, { rateLimit: { limit: 100, window: '1m' }, inflightLimit: { limit: 200 } })
const config = { sluice: { rateLimit: { limit: 1, window: '1m' }, inflightLimit: { name: 'home', limit: 9 } } } as const
app.get('/', { config }, async (request) => `left: ${request.sluice?.decision?.binding.remaining}`)

app.listen({ port: 0, host: '127.0.0.1' }, () => console.log((app.server.address() as AddressInfo).port))
process.stdin.resume().once('end', () => app.close())
