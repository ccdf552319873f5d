import type { IncomingMessage, ServerResponse } from 'node:http'
import { describe, expect, test } from '@jest/globals'
import { createSluice, Shed, shed } from '@sluice/node-http'
import { admitAll, compileSharedOptions, Exchange, type LayerOptions, LimitLayer } from '@sluice/node-http/adapter'
import { FakeClock, Watcher } from '@sluice/testkit'
import { createRequest, createResponse } from 'node-mocks-http'

type Req = IncomingMessage
type Res = ServerResponse
type Layer = LimitLayer<Req, Res>

class BareExchange extends Exchange<Req, Res> {
  get ip(): string {
    return '192.0.2.1'
  }

  get route(): undefined {
    return undefined
  }
}

function mocked(options: object): [Req, Res] {
  return [createRequest(options) as unknown as Req, createResponse() as unknown as Res]
}

/** Signals of a process that refuses all requests except critical ones. */
const ILL = { eventLoopDelayMs: false, health: () => false } as const

/** Returns the status of a denial, or the admission. */
async function ask({ limits }: Pick<Layer, 'limits'>, priority = 'normal'): Promise<unknown> {
  const [req, res] = mocked({ headers: { 'x-priority': priority } })
  const admission = await admitAll(limits, new BareExchange(req, res, req, res))
  return typeof admission === 'object' ? admission.denial.status : admission
}

describe('load shedding of an application and its parts', () => {
  const layer = (options: LayerOptions<Req, Res>): Layer => LimitLayer.root<Req, Res>().extend(options, 'app')

  test('comes before all other limits, which neither count nor hold a refused request', async () => {
    const watcher = new Watcher()
    const app = layer({
      inflightLimit: { limit: 1, observers: [watcher] },
      rateLimit: { limit: 1, window: '1m', observers: [watcher] },
      slowDown: { after: 0, window: '1m', delayMs: '1s', maxDelayMs: '1s', observers: [watcher] },
      shed: { ...ILL, priority: (req) => req.headers['x-priority'] as 'high' },
    })
    expect([await ask(app), await ask(app, 'high')]).toEqual([503, 503])
    expect([watcher.decisions.length, watcher.acquired]).toEqual([0, 0])
    app.close()
  })

  test('is inherited, replaced by one of the same name, extended by another name, and removed by false', async () => {
    const app = layer({ shed: ILL })
    const parts: Readonly<Record<string, LayerOptions<Req, Res>>> = {
      inherited: {},
      replaced: { shed: { status: 500 } },
      healthy: { shed: { health: () => true } },
      extended: { shed: { name: 'own', health: () => true } },
      removed: { shed: false },
      skipped: { skipLimits: ['shed'] },
    }
    const answers: Record<string, unknown> = {}
    for (const [name, options] of Object.entries(parts)) answers[name] = await ask(app.extend(options, name))
    expect(answers).toEqual({
      inherited: 503,
      replaced: 500,
      healthy: 'passed',
      extended: 503,
      removed: 'passed',
      skipped: 'passed',
    })
    app.close()
  })

  test('has one shedder and one timer for all parts without own signals', async () => {
    const clock = new FakeClock()
    let checks = 0
    const health = (): boolean => {
      checks++
      return false
    }
    const app = layer({ shed: { ...ILL, health, clock } })
    const part = app.extend({ shed: { priority: () => 'critical' } }, 'part')
    expect([await ask(app), await ask(part), checks, clock.pending]).toEqual([503, 'passed', 1, 1])
    part.close()
    expect([await ask(app), clock.pending]).toEqual([503, 1])
    app.close()
    expect([await ask(app), clock.pending]).toEqual(['passed', 0])
  })

  test('uses the shared clock and observers', async () => {
    const [clock, watcher] = [new FakeClock(), new Watcher()]
    const shared = compileSharedOptions({ clock, observers: [watcher] })
    const app = LimitLayer.root<Req, Res>([], shared).extend({ shed: ILL }, 'app')
    expect([await ask(app), clock.pending, watcher.count('shed')]).toEqual([503, 1, 1])
    app.close()
  })
})

describe('shed', () => {
  /** Calls a handler and returns the status of its response. */
  function statusOf(handler: (req: Req, res: Res) => unknown): number {
    const [req, res] = mocked({ headers: {} })
    handler(req, res)
    return res.statusCode
  }

  test('without options refuses nothing in a process that has time left', () => {
    const limit = shed()
    expect(statusOf(limit.wrap((_req: Req, res: Res) => res.end('ok')))).toBe(200)
    expect([limit.shedder.pressure, limit.shedder.signal]).toEqual([0, undefined])
    limit.close()
  })

  test('of createSluice uses its clock and its observers', () => {
    const [clock, watcher] = [new FakeClock(), new Watcher()]
    const limit = createSluice({ clock, observers: [watcher] }).shed(ILL)
    expect(statusOf(limit.wrap((_req: Req, res: Res) => res.end('ok')))).toBe(503)
    expect([clock.pending, watcher.count('shed')]).toEqual([1, 1])
    limit.close()
  })

  test('in mode off reads no signal', () => {
    const clock = new FakeClock()
    const limit = shed({ ...ILL, clock, mode: 'off' })
    expect([statusOf(limit.wrap((_req: Req, res: Res) => res.end('ok'))), clock.pending]).toEqual([200, 0])
  })

  test('also decorates methods', () => {
    const context = { kind: 'method', name: 'list' } as ClassMethodDecoratorContext
    const limit = shed(ILL)
    const list = (Shed(limit) as (method: unknown, of: unknown) => (req: Req, res: Res) => unknown)(
      (_req: Req, res: Res) => res.end('ok'),
      context,
    )
    expect(statusOf(list)).toBe(503)
    limit.close()
  })

  test.each<[object, string, string]>([
    [{ priority: 'high' }, 'SLUICE_BAD_OPTION', 'priority: expected an object of options'],
    [{ priority: { header: 'no name' } }, 'SLUICE_BAD_OPTION', 'priority.header: expected the name of a header'],
    [{ status: 200 }, 'SLUICE_BAD_OPTION', 'status: expected an integer from 400 to 599'],
    [{ mode: 'on' }, 'SLUICE_BAD_OPTION', 'mode'],
    [{ skip: true }, 'SLUICE_BAD_OPTION', 'skip: expected a function'],
    [{ name: '' }, 'SLUICE_BAD_NAME', 'name: expected 1 to 128'],
    [{ limit: 3 }, 'SLUICE_BAD_OPTION', 'shed: expected one of eventLoopDelayMs'],
    [{ eventLoopDelayMs: -1 }, 'SLUICE_BAD_OPTION', 'eventLoopDelayMs: expected a number above 0'],
    [{ healthEveryMs: 'soon' }, 'SLUICE_BAD_DURATION', 'healthEveryMs: expected a duration'],
  ])('refuses the options %j', (options, code, message) => {
    expect(() => shed(options)).toThrow(expect.objectContaining({ code }))
    expect(() => shed(options)).toThrow(message)
  })
})
