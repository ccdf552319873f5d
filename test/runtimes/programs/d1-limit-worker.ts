// A Worker as users write it: its limit is created in the global scope, and counts in D1.
import { env, waitUntil } from 'cloudflare:workers'
import { rateLimit } from '@sluice/fetch'
import { storeBackend } from '@sluice/stores'
import { type D1Database, d1Store } from '@sluice/stores/d1'

const { DATABASE } = env as unknown as { readonly DATABASE: D1Database }
const store = d1Store(DATABASE, { waitUntil })
const backend = storeBackend(store, { name: 'd1' })
const limit = rateLimit({ name: 'shared', limit: 200, window: '1h', backend, deadlineMs: 10_000 })
const handler = limit.wrap(() => new Response('hello'))

export default {
  async fetch(request: Request): Promise<Response> {
    if (!request.url.endsWith('/migrate')) return handler(request)
    await store.migrate()
    return new Response('created')
  },
}
