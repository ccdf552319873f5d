// A Worker as users write it: the limits are created in the global scope.
import { inflightLimit, rateLimit } from '@sluice/hono'
import { Hono } from 'hono'

const app = new Hono()
app.use(rateLimit({ name: 'all', limit: 3, window: '1m', partitionKey: { secret: 'known' } }))
app.get('/', (c) => c.text('hello'))
app.get('/slow', inflightLimit({ name: 'slow', limit: 1 }), (c) => c.text('slow'))

export default app
