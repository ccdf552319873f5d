import { byClient, inflightLimit, rateLimit } from '../../../limits.ts'

const limit = rateLimit({ name: 'summaries', limit: 100, window: '1h', key: byClient })
// a place is held until the stream has been read
const cap = inflightLimit({ name: 'streams', limit: 2, key: byClient, status: 429 })

export const POST = limit.wrap(
  cap.wrap(async (request: Request) => {
    const words = (await request.text()).split(/\s+/).slice(0, 20)
    const encoder = new TextEncoder()
    const summary = new ReadableStream({
      pull(controller) {
        const word = words.shift()
        if (word === undefined) controller.close()
        else controller.enqueue(encoder.encode(`${word} `))
      },
    })
    return new Response(summary, { headers: { 'content-type': 'text/plain' } })
  }),
)
