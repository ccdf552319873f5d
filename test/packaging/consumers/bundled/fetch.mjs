import { rateLimit } from '@sluice/fetch'
import { askedTwice } from './asked.mjs'

export function statuses() {
  const handler = rateLimit({ limit: 1, window: '1m', key: () => 'all' }).wrap(() => new Response('hello'))
  return askedTwice(() => handler(new Request('http://localhost/')))
}
