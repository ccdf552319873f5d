import { afterEach, beforeEach, expect, jest, test } from '@jest/globals'
import { type FastifyRouteLimits, rateLimit, sluice } from '@sluice/fastify'
import { type Backend, memoryBackend, SluiceError } from '@sluice/limiter-core'
import { policies } from '@sluice/policies'
import { FakeClock, Watcher } from '@sluice/testkit'
import { type FastifyReply, type FastifyRequest, fastify } from 'fastify'
import { TextSource } from '../../policies/text-source.ts'

const clock = new FakeClock()
const warnings: string[] = []
const closes: (() => unknown)[] = []

beforeEach(() => {
  warnings.splice(0)
  jest.spyOn(process, 'emitWarning').mockImplementation((warning) => void warnings.push(String(warning)))
})
afterEach(async () => {
  for (const close of closes.splice(0)) await close()
  jest.restoreAllMocks()
})

/** Memory that can refuse to open counters, with the number of counters that are open. */
function watchedMemory(): { readonly backend: Backend; readonly state: { open: number; refuses: boolean } } {
  const backend = memoryBackend({ clock })
  const state = { open: 0, refuses: false }
  const open = backend.open.bind(backend)
  backend.open = (compiled, name, isVariant) => {
    if (state.refuses) throw new SluiceError('SLUICE_BAD_POLICY', 'no room for counters')
    const counter = open(compiled, name, isVariant)
    // counters of further limits use the cells of a counter that is open
    if (isVariant) return counter
    state.open++
    return Object.assign(counter, { close: () => void state.open-- })
  }
  return { backend, state }
}

const documentOf = (limit: number): string =>
  JSON.stringify({ version: 1, policies: [{ name: 'all', limit, per: '1m', algorithm: 'fixed-window' }] })

/** An application with limits on a document, and a route below them with a further limit. */
async function nested(config: (loaded: ReturnType<typeof load>) => FastifyRouteLimits) {
  const source = new TextSource(documentOf(5))
  const loaded = load(source)
  const { backend, state } = watchedMemory()
  const watcher = new Watcher()
  const app = fastify()
  closes.push(() => app.close())
  const separate = rateLimit({ ...loaded, clock })
  closes.push(() => separate.close())
  await app.register(sluice, { rateLimit: { ...loaded, backend, clock, observers: [watcher] } })
  app.get('/plain', async () => 'plain')
  app.get('/own', { config: { sluice: config(loaded) } }, async () => 'own')
  await app.ready()
  const limitsOf = async (url: string): Promise<unknown> => (await app.inject({ url })).headers['ratelimit-policy']
  const change = async (text: string): Promise<void> => {
    source.text = text
    await loaded.policies.reload()
  }
  return { limitsOf, change, state, separate, watcher }
}

function load(source: TextSource) {
  return policies<FastifyRequest, FastifyReply>(source)
}

test('a gate below another one that cannot open the changed policies keeps all gates on the previous ones', async () => {
  const own = watchedMemory()
  const { limitsOf, change, state, separate, watcher } = await nested(() => ({
    rateLimit: { name: 'own', limit: 9, window: '1m', algorithm: 'fixed-window', backend: own.backend },
  }))
  const all = async (): Promise<unknown[]> => [await limitsOf('/plain'), await limitsOf('/own')]
  const before = [state.open, own.state.open]
  own.state.refuses = true
  await change(documentOf(6))
  expect(await all()).toEqual(['"all";q=5;w=60', '"all";q=5;w=60, "own";q=9;w=60'])
  expect(separate.limiter.policies.map(({ limit }) => limit)).toEqual([5])
  expect([state.open, own.state.open]).toEqual(before)
  expect(warnings).toEqual([
    expect.stringContaining(
      'the policies of policies.yaml were not replaced: SluiceError: SLUICE_BAD_POLICY: no room for counters',
    ),
  ])
  expect(watcher.events).toEqual([
    {
      name: 'policies',
      data: { source: 'policies.yaml', refused: expect.objectContaining({ code: 'SLUICE_BAD_POLICY' }) },
    },
  ])
  own.state.refuses = false
  await change(documentOf(7))
  expect(await all()).toEqual(['"all";q=7;w=60', '"all";q=7;w=60, "own";q=9;w=60'])
  expect(separate.limiter.policies.map(({ limit }) => limit)).toEqual([7])
})

test('a gate below another one with the same document opens its changed policies once', async () => {
  const own = watchedMemory()
  const { limitsOf, change } = await nested((loaded) => ({ rateLimit: { ...loaded, backend: own.backend } }))
  const before = own.state.open
  await change(documentOf(6))
  expect([await limitsOf('/plain'), await limitsOf('/own')]).toEqual(['"all";q=6;w=60', '"all";q=6;w=60'])
  // the replaced counters stay open for requests in progress
  expect(own.state.open).toBe(2 * before)
})
