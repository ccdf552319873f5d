const { sluice } = require('@sluice/fastify')
const app = require('fastify')()

app.register(sluice, { rateLimit: { limit: 1, window: '1m' } })
app.get('/', async () => 'hello')

app.listen({ port: 0, host: '127.0.0.1' }, () => console.log(app.server.address().port))
process.stdin.resume().once('end', () => app.close())
