import { sluice } from '@sluice/fastify'
import Fastify from 'fastify'

const app = Fastify()
await app.register(sluice, { rateLimit: { limit: 1, window: '1m' } })
app.get('/', async () => 'hello')

await app.listen({ port: 0, host: '127.0.0.1' })
console.log(app.server.address().port)
process.stdin.resume().once('end', () => app.close())
