import { expect, test } from '@jest/globals'
import { inflightLimit } from '@sluice/fastify'
import { fastify } from 'fastify'
import { limited, opened } from '../../adapters/fastify/fastify-injected.ts'

const app = opened(fastify)
let runs = 0
const handler = (): PromiseLike<string> =>
  ({
    // biome-ignore lint/suspicious/noThenProperty: it is one on purpose
    then(resolve: (rows: string) => void): void {
      runs++
      resolve('rows')
    },
  }) as PromiseLike<string>

test.each<[string, () => typeof handler]>([
  ['around the handler', () => handler],
  ['on the route', () => inflightLimit({ limit: 1 }).wrap(handler)],
  [
    'on the route with an asynchronous decision',
    () => inflightLimit({ limit: 1, key: async () => 'all' }).wrap(handler),
  ],
])('a query that runs when it is awaited runs once with a cap %s', async (_which, of) => {
  runs = 0
  const made = await limited(app(), { inflightLimit: { name: 'all', limit: 1, holdUntil: 'handler' } })
  made.get('/', of())
  for (const time of [1, 2]) {
    expect((await made.inject('/')).body).toBe('rows')
    expect(runs).toBe(time)
  }
})
