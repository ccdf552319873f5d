import { describe, expect, test } from '@jest/globals'
import { inflightLimit } from '@sluice/fetch'

const URL_OF_API = 'https://api.example/'

/** A body of these chunks, with what happened to it. */
function source(chunks: readonly string[], failure?: Error) {
  const seen = { pulled: 0, cancelled: undefined as unknown }
  const left = [...chunks]
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        seen.pulled++
        const chunk = left.shift()
        if (chunk !== undefined) controller.enqueue(new TextEncoder().encode(chunk))
        else if (failure) controller.error(failure)
        else controller.close()
      },
      cancel(reason) {
        seen.cancelled = reason
      },
    },
    { highWaterMark: 0 },
  )
  return { body, seen }
}

function locked(): Response {
  const response = new Response('read by the handler')
  response.body?.getReader()
  return response
}

/** A cap of one place in front of a handler with this response, and the number of places in use. */
function capped(respond: () => Response | Promise<Response>, method = 'GET') {
  const cap = inflightLimit({ limit: 1, name: 'cap' })
  const leaving = new AbortController()
  const handler = cap.wrap(respond)
  const ask = async () => handler(new Request(URL_OF_API, { method, signal: leaving.signal }))
  return { ask, leave: () => leaving.abort(), held: () => cap.limiter.count() }
}

describe('the place of a request', () => {
  test('is held until the body has been read', async () => {
    const { body, seen } = source(['one ', 'two'])
    const { ask, held } = capped(() => new Response(body))
    const response = await ask()
    expect([held(), seen.pulled]).toEqual([1, 0])
    expect(await response.text()).toBe('one two')
    expect(held()).toBe(0)
  })

  test('is released when the body is cancelled, and the source learns the reason', async () => {
    const { body, seen } = source(['one', 'two'])
    const { ask, held } = capped(() => new Response(body))
    const response = await ask()
    const reader = response.body?.getReader()
    await reader?.read()
    expect(held()).toBe(1)
    await reader?.cancel('enough')
    expect([held(), seen.cancelled]).toEqual([0, 'enough'])
  })

  test('is released when the body fails, and the reader receives the error', async () => {
    const { body } = source(['one'], new Error('the source broke'))
    const { ask, held } = capped(() => new Response(body))
    const response = await ask()
    await expect(response.text()).rejects.toThrow('the source broke')
    expect(held()).toBe(0)
  })

  test('is released when the client leaves before the handler answers, and only once', async () => {
    let respond: (response: Response) => void = () => {}
    const { ask, leave, held } = capped(() => new Promise<Response>((resolve) => (respond = resolve)))
    const asked = ask()
    expect(held()).toBe(1)
    leave()
    expect(held()).toBe(0)
    respond(new Response('too late'))
    await (await asked).text()
    expect(held()).toBe(0)
  })

  test('is released when the client leaves while the body is sent', async () => {
    const { body } = source(['one', 'two'])
    const { ask, leave, held } = capped(() => new Response(body))
    const reader = (await ask()).body?.getReader()
    await reader?.read()
    leave()
    expect(held()).toBe(0)
    await reader?.cancel()
    expect(held()).toBe(0)
  })

  test('is not taken by a client that has already left, whose handler does not run', async () => {
    let runs = 0
    const { ask, leave, held } = capped(() => {
      runs++
      return new Response('hello')
    })
    leave()
    expect((await ask()).status).toBe(499)
    expect([runs, held()]).toEqual([0, 0])
  })

  test('is released when the handler throws or rejects, and the error reaches the caller', async () => {
    for (const respond of [
      () => {
        throw new Error('broken')
      },
      () => Promise.reject(new Error('broken')),
    ]) {
      const { ask, held } = capped(respond)
      await expect(ask()).rejects.toThrow('broken')
      expect(held()).toBe(0)
    }
  })

  test('is released when the handler returns no response', async () => {
    for (const respond of [() => undefined, async () => undefined]) {
      const { ask, held } = capped(respond as never)
      await expect(ask()).rejects.toThrow(TypeError)
      expect(held()).toBe(0)
    }
  })

  test('is taken again by the same request object, after its response', async () => {
    const cap = inflightLimit({ limit: 1, name: 'cap' })
    const handler = cap.wrap(() => new Response('hello'))
    const request = new Request(URL_OF_API)
    for (let time = 0; time < 3; time++) {
      const response = await handler(request)
      expect([response.status, cap.limiter.count()]).toEqual([200, 1])
      await response.text()
      expect(cap.limiter.count()).toBe(0)
    }
  })

  test.each([
    ['a response without a body', 'GET', () => new Response(null)],
    ['status 204', 'GET', () => new Response(null, { status: 204 })],
    ['a redirect', 'GET', () => Response.redirect(URL_OF_API, 302)],
    ['HEAD', 'HEAD', () => new Response('never sent')],
    ['a network error', 'GET', () => Response.error()],
    ['a body that is locked', 'GET', () => locked()],
  ])('is released at once for %s', async (_what, method, respond) => {
    const { ask, held } = capped(respond, method)
    await ask()
    expect(held()).toBe(0)
  })

  test('is held until work that the handler named has settled', async () => {
    const { sluiceOf } = await import('@sluice/fetch')
    let finish: () => void = () => {}
    const work = new Promise<void>((resolve) => (finish = resolve))
    const cap = inflightLimit({ limit: 1, name: 'cap' })
    const handler = cap.wrap((request: Request) => {
      sluiceOf(request)?.holdUntil(work)
      return new Response('started')
    })
    await (await handler(new Request(URL_OF_API))).text()
    expect(cap.limiter.count()).toBe(1)
    finish()
    await work
    await Promise.resolve()
    expect(cap.limiter.count()).toBe(0)
  })

  test('of several caps is released by one end', async () => {
    const [outer, inner] = [inflightLimit({ limit: 1, name: 'outer' }), inflightLimit({ limit: 1, name: 'inner' })]
    const handler = outer.wrap(inner.wrap(() => new Response('hello')))
    const response = await handler(new Request(URL_OF_API))
    expect([outer.limiter.count(), inner.limiter.count()]).toEqual([1, 1])
    expect(await response.text()).toBe('hello')
    expect([outer.limiter.count(), inner.limiter.count()]).toEqual([0, 0])
  })
})
