const { sluice } = require('@sluice/fastify')
const { policies } = require('@sluice/policies')
const { fastify } = require('fastify')

const app = fastify()
app.register(sluice, { rateLimit: policies('one-per-minute.yaml') })
app.get('/', async () => 'hello')

app.listen({ port: 0, host: '127.0.0.1' }, () => console.log(app.server.address().port))
process.stdin.resume().once('end', () => app.close())
