import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { sdks } from '../model-sdks/sdks.ts'
import { type RunningRecipe, run } from './recipe.ts'

let recipe: RunningRecipe

beforeAll(async () => {
  recipe = await run('responses.md', 'Clients of language models')
})
afterAll(() => recipe.close())

const ask = (): Promise<Headers> => sdks[0].ask(recipe.url)

test('the client of OpenAI reads what is left of both limits', async () => {
  expect(sdks[0].name).toBe('openai')
  const headers = await ask()
  const shown = ['requests', 'tokens'].map((kind) => headers.get(`x-ratelimit-remaining-${kind}`))
  expect(shown).toEqual(['59', '19500'])
  expect(headers.get('x-ratelimit-reset-tokens')).toBe('1.5s')
})

test('the client of OpenAI reads the error of a denial', async () => {
  const denied = { 'content-type': 'application/json', authorization: 'Bearer other' }
  const post = (): Promise<Response> =>
    fetch(`${recipe.url}/v1/chat/completions`, { method: 'POST', body: '{}', headers: denied })
  for (let sent = 0; sent < 60; sent++) expect((await post()).status).toBe(200)
  const response = await post()
  expect(response.status).toBe(429)
  expect(Number(response.headers.get('retry-after-ms'))).toBeGreaterThan(50_000)
  expect(await response.json()).toEqual({
    type: 'error',
    error: {
      type: 'rate_limit_error',
      code: 'rate_limit_exceeded',
      message: expect.stringMatching(/^Limit 'requests' reached\. Try again in \d+ s\.$/),
    },
  })
})
