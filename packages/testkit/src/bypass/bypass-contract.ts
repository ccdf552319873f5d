import assert from 'node:assert/strict'
import type { MaybePromise } from '@sluice/limiter-core'
import { numberOfRuns } from '../seeded-random.ts'
import type { TestRunner } from '../suite-runner.ts'
import { http2Bypasses } from './http2-bypasses.ts'
import type { BypassContractOptions, LimitedApp } from './limited-app.ts'
import { LimitedRoute } from './limited-route.ts'
import {
  headerSpellings,
  hostSpellings,
  methodSpellings,
  pathSpellings,
  rotations,
  type Spelling,
} from './spellings.ts'

/** With `SLUICE_RUNS` of the environment, this part of them. */
const ROTATIONS = 1_000
const ESCAPED = 'these spellings reached the handler although the limit was used up'
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
  const { path = '/login', method = 'POST', http2 = false } = options
  const onRoute = async (visit: (route: LimitedRoute) => Promise<void>): Promise<void> => {
    const app = await start()
    const route = new LimitedRoute(app, options)
    try {
      await visit(route)
    } finally {
      route.close()
      await app.close()
    }
  }
  const spelled = (of: (port: number) => readonly Spelling[]) => () =>
    onRoute(async (route) => {
      await route.useUp()
      assert.deepEqual(await route.handled(of(route.port)), [], ESCAPED)
    })

  describe('counts all spellings of a request as one', () => {
    test(
      'of the path',
      spelled(() => pathSpellings(path)),
    )
    if (!http2)
      test(
        'of the target with a host',
        spelled((port) => hostSpellings(path, port)),
      )
    test(
      'of the method',
      spelled(() => methodSpellings(path, method)),
    )
    test(
      'with headers that claim another client, path or connection',
      spelled(() => headerSpellings(path)),
    )

    test('in rotation', () =>
      onRoute(async (route) => {
        await route.learn()
        const all = [...pathSpellings(path), ...methodSpellings(path, method), ...headerSpellings(path)]
        const handled = await route.handled([...all, ...all])
        const message = `more than ${route.left} requests reached the handler: ${handled.join(', ')}`
        assert.ok(handled.length <= route.left, message)
      }))

    const changes = numberOfRuns(ROTATIONS)
    for (const [name, spelling] of rotations(path)) {
      test(`with a ${name} that changes ${changes} times, and keeps nothing of it`, () =>
        onRoute(async (route) => {
          await route.useUp()
          await route.handled(Array.from({ length: WARM_UP }, (_, turn) => spelling(turn)))
          const before = await route.kept()
          const handled = await route.handled(Array.from({ length: changes }, (_, turn) => spelling(turn)))
          assert.deepEqual(handled.slice(0, WARM_UP), [], ESCAPED)
          assert.equal(await route.kept(), before, `the application keeps more entries after ${changes} requests`)
        }))
    }

    if (http2) http2Bypasses({ describe, test }, onRoute)
  })
}
