import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { SluiceModuleOptions } from '@sluice/nest'
import { until, Watcher } from '@sluice/testkit'
import { arrived, graphqlApp, waiting } from '../graphql-app.ts'
import { onSite } from '../site.ts'

interface Answer {
  readonly data: Readonly<Record<string, unknown>> | null
  readonly errors?: readonly { readonly message: string; readonly extensions: Readonly<Record<string, unknown>> }[]
}

type Query = (query: string, headers?: Record<string, string>, signal?: AbortSignal) => Promise<Answer>

const behind = (options: SluiceModuleOptions, visit: (query: Query) => Promise<void>): Promise<void> =>
  onSite('Express', graphqlApp(options), ({ ask }) =>
    visit(async (query, headers = {}, signal = new AbortController().signal) => {
      const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, signal }
      return (await ask('/graphql', { ...init, body: JSON.stringify({ query }) })).json() as Promise<Answer>
    }),
  )
const codes = ({ errors = [] }: Answer): unknown[] => errors.map(({ extensions }) => extensions.code)

describe('resolvers of GraphQL', () => {
  test('are counted on each call, and a denial is an error with the time to retry', () =>
    behind({ rateLimit: { limit: 2, window: '1m', algorithm: 'fixed-window' } }, async (query) => {
      assert.deepEqual((await query('{ cat free }')).data, { cat: 'tom', free: 'free' })
      const { data, errors = [] } = await query('{ one: cat two: cat }')
      assert.equal(data, null)
      assert.equal(errors.length, 1)
      assert.equal(errors[0].message, 'denied by default')
      const { code, retryAfter, violatedPolicies } = errors[0].extensions
      assert.deepEqual([code, violatedPolicies], ['SLUICE_DENIED', ['default']])
      assert.ok(retryAfter === 59 || retryAfter === 60)
      assert.deepEqual((await query('{ free }')).data, { free: 'free' })
    }))

  test('are counted once per query, not per object, however deep the fields', () => {
    const watcher = new Watcher()
    const options = {
      rateLimit: { limit: 3, window: '1m' },
      inflightLimit: { limit: 9 },
      observers: [watcher],
    } as const
    return behind(options, async (query) => {
      assert.deepEqual((await query('{ rows(count: 50) { name next { name next { name } } } }')).errors, undefined)
      // one decision of the module and of the class, and one permit of each
      assert.deepEqual([watcher.decisions.length, watcher.acquired, watcher.denied], [1, 2, 0])
      await until(() => watcher.held === 0)
      assert.deepEqual(codes(await query('{ rows(count: 1) { name } }')), [])
      assert.deepEqual(codes(await query('{ rows(count: 1) { name } }')), ['SLUICE_DENIED'])
    })
  })

  test('are counted per object if their method has a limit', () =>
    behind({}, async (query) => {
      const answer = await query('{ rows(count: 5) { details } }')
      assert.deepEqual(codes(answer), ['SLUICE_DENIED', 'SLUICE_DENIED'])
    }))

  test('are counted by data of their HTTP request', () =>
    behind({}, async (query) => {
      const asked = [
        await query('{ age(of: "tom") }', { 'x-user': 'ann' }),
        await query('{ age(of: "tom") }', { 'x-user': 'ann' }),
        await query('{ age(of: "tom") }', { 'x-user': 'bob' }),
      ]
      assert.deepEqual(asked.map(codes), [[], ['SLUICE_DENIED'], []])
    }))

  test('by address by default', () => {
    const watcher = new Watcher()
    return behind({ rateLimit: { limit: 1, window: '1m' }, observers: [watcher] }, async (query) => {
      assert.deepEqual(codes(await query('{ cat }')), [])
      assert.deepEqual(codes(await query('{ cat }')), ['SLUICE_DENIED'])
      assert.equal(watcher.count('keyFallback'), 0)
    })
  })

  test('release their permits when they are done', () => {
    const watcher = new Watcher()
    return behind({ observers: [watcher] }, async (query) => {
      const first = query('{ slow }')
      await until(() => waiting.length === 1)
      assert.deepEqual(codes(await query('{ slow }')), ['SLUICE_DENIED'])
      waiting[0]()
      assert.deepEqual((await first).data, { slow: 'slow' })
      await query('{ failing }')
      await query('{ failing }')
      await until(() => watcher.held === 0)
      assert.deepEqual([watcher.acquired, watcher.released, watcher.denied], [3, 3, 1])
    })
  })

  test('wait for a place in a queue, and do not run if their client has left meanwhile', () => {
    const watcher = new Watcher()
    waiting.length = 0
    return behind({ observers: [watcher] }, async (query) => {
      const first = query('{ queued }')
      await until(() => waiting.length === 1)
      const leaving = new AbortController()
      const left = query('{ queued }', {}, leaving.signal)
      await until(() => arrived.length === 2)
      const last = query('{ queued }')
      await until(() => arrived.length === 3)
      leaving.abort()
      await assert.rejects(left)
      await until(() => arrived[1].destroyed)
      waiting[0]()
      assert.deepEqual((await first).data, { queued: 'queued' })
      await until(() => waiting.length === 2)
      waiting[1]()
      assert.deepEqual((await last).data, { queued: 'queued' })
      await until(() => watcher.held === 0)
      assert.equal(waiting.length, 2)
    })
  })

  test('share the cap of the module, and each field of a query takes a place', () => {
    const watcher = new Watcher()
    waiting.length = 0
    return behind({ inflightLimit: { limit: 2 }, observers: [watcher] }, async (query) => {
      const both = query('{ one: pending two: pending }')
      await until(() => waiting.length === 2)
      assert.deepEqual(codes(await query('{ cat }')), ['SLUICE_DENIED'])
      for (const goOn of waiting) goOn()
      assert.deepEqual((await both).data, { one: 'pending', two: 'pending' })
      await until(() => watcher.held === 0)
      assert.deepEqual(codes(await query('{ cat }')), [])
    })
  })

  test('have a count for each resolver with a key by route', () =>
    behind({}, async (query) => {
      const asked = []
      for (const name of ['first', 'second', 'first', 'second']) asked.push(codes(await query(`mutation { ${name} }`)))
      assert.deepEqual(asked, [[], [], ['SLUICE_DENIED'], ['SLUICE_DENIED']])
    }))
})
