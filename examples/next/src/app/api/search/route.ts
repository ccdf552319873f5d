import { byClient, rateLimit } from '../../../limits.ts'

const limit = rateLimit({ name: 'search', limit: 5, window: '10s', key: byClient })

export const GET = limit.wrap(async (request: Request) => {
  return Response.json({ found: [new URL(request.url).searchParams.get('q')] })
})
