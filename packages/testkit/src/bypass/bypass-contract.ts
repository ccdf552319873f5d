import assert from 'node:assert/strict'
import type { MaybePromise } from '@sluice/limiter-core'
import type { TestRunner } from '../suite-runner.ts'
import { http2Bypasses } from './http2-bypasses.ts'
import type { BypassContractOptions, LimitedApp } from './limited-app.ts'
import { LimitedRoute } from './limited-route.ts'
import { headerSpellings, hostSpellings, methodSpellings, pathSpellings, type Spelling } from './spellings.ts'

const ROTATIONS = 1_000
/** Requests after which everything that a route needs is kept. */
const WARM_UP = 10

/**
 * Checks that no spelling of a request reaches the handler of a limited route under another count. `start` starts the
 * application with unused limits and windows of a minute or more. The suite calls it once for each test.
 */
export function bypassContract(
  { describe, test }: TestRunner,
  start: () => MaybePromise<LimitedApp>,
  options: BypassContractOptions = {},
): void {
  const { path = '/login', method = 'POST', http2 = false, except = {} } = options
  const onRoute = async (visit: (route: LimitedRoute) => Promise<void>): Promise<void> => {
    const app = await start()
    const route = new LimitedRoute(app, options)
    try {
      await visit(route)
    } finally {
      await route.close()
      await app.close()
    }
  }
  const spelled = (of: (port: number) => readonly Spelling[]) => () =>
    onRoute(async (route) => {
      await route.useUp()
      const all = of(route.port).filter(({ name }) => !Object.hasOwn(except, name))
      const escaped: string[] = []
      for (const one of all) if (await route.isHandled(one)) escaped.push(one.name)
      assert.deepEqual(escaped, [], 'these spellings reached the handler although the limit was used up')
    })

  describe('counts all spellings of a request as one', () => {
    test('of the path', spelled(() => pathSpellings(path)))
    if (!http2) test('of the target with a host', spelled((port) => hostSpellings(path, port)))
    test('of the method', spelled(() => methodSpellings(path, method)))
    test('with headers that claim another client, path or connection', spelled(() => headerSpellings(path)))

    test('in rotation', () =>
      onRoute(async (route) => {
        await route.learn()
        const all = [...pathSpellings(path), ...methodSpellings(path, method), ...headerSpellings(path)]
        const handled: string[] = []
        for (let round = 0; round < 2; round++)
          for (const one of all)
            if (!Object.hasOwn(except, one.name) && (await route.isHandled(one))) handled.push(one.name)
        assert.ok(handled.length <= route.left, `more than ${route.left} requests reached the handler: ${handled.join(', ')}`)
      }))

    for (const [name, target] of Object.entries({
      query: (turn: number) => `${path}?x=${turn}`,
      'matrix parameter': (turn: number) => `${path};x=${turn}`,
      'last segment': (turn: number) => `${path}/${turn}`,
      host: undefined,
      'user agent': undefined,
    })) {
      test(`with a ${name} that changes ${ROTATIONS} times, and keeps nothing of it`, () =>
        onRoute(async (route) => {
          await route.useUp()
          const spelling = (turn: number): Spelling => {
            if (target) return { name: target(turn), target: target(turn) }
            return { name, target: path, headers: { [name === 'host' ? 'host' : 'user-agent']: `x${turn}.example` } }
          }
          for (let turn = 0; turn < WARM_UP; turn++) await route.isHandled(spelling(turn))
          const before = await route.kept()
          const escaped: string[] = []
          for (let turn = 0; turn < ROTATIONS; turn++)
            if (await route.isHandled(spelling(turn))) escaped.push(spelling(turn).name)
          assert.deepEqual(escaped.slice(0, WARM_UP), [], 'reached the handler although the limit was used up')
          assert.equal(await route.kept(), before, `the application keeps more entries after ${ROTATIONS} requests`)
        }))
    }

    if (http2) http2Bypasses({ describe, test }, onRoute)
  })
}
