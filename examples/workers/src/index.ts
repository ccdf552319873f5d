import { inflightLimit, rateLimit, sluiceOf } from '@sluice/fetch'

// in the global scope: a limit that is created inside `fetch` would start from zero on each request
const limit = rateLimit({ name: 'api', limit: 20, window: '10s' })
const cap = inflightLimit({ name: 'concurrent', limit: 50 })

const handler = limit.wrap(
  cap.wrap((request: Request) => {
    const left = sluiceOf(request)?.decision?.binding.remaining
    return Response.json({ path: new URL(request.url).pathname, left })
  }),
)

export default { fetch: handler }
