import type { IncomingMessage, ServerResponse } from 'node:http'
import { describe, test } from '@jest/globals'
import { admitAll, Exchange, type LayerOptions, LimitLayer, sendDenial } from '@sluice/node-http/adapter'
import { type LayerSpec, nativeLayer, overridesContract } from '@sluice/testkit'
import { bridge, send } from '../adapters/express/connect-bridge.ts'
import { running } from '../adapters/running-app.ts'

type Layer = LimitLayer<IncomingMessage, ServerResponse>

class BareExchange extends Exchange<IncomingMessage, ServerResponse> {
  get ip(): string | undefined {
    return this.peer
  }

  get route(): string | undefined {
    return this.incoming.url
  }
}

function below(layer: Layer, spec: LayerSpec, place: string): Layer {
  return layer.extend(
    nativeLayer<LayerOptions<IncomingMessage, ServerResponse>, never, never>(spec, bridge as never),
    place,
  )
}

// the smallest possible framework with routes: limit layers and nothing else
describe('layers of limits', () => {
  overridesContract({ describe, test }, ({ app, routes, group }) => {
    const root = below(LimitLayer.root(), app, 'app')
    const part = group ? below(root, group.layer, 'group') : root
    const all = [
      ...routes.map((route) => [root, route] as const),
      ...(group?.routes ?? []).map((route) => [part, route] as const),
    ]
    const table = new Map(
      all.map(([upper, route]) => [
        route.path,
        { ...route, limits: route.layer ? below(upper, route.layer, route.path).limits : upper.limits },
      ]),
    )
    return running(async (req, res) => {
      const route = table.get(req.url ?? '')
      const exchange = new BareExchange(req, res, req, res)
      const admission = await admitAll(route?.limits ?? [], exchange)
      if (typeof admission === 'object') sendDenial(exchange, admission)
      else send(res, (await route?.handler?.({ request: bridge.request(req), sluice: req.sluice })) ?? {})
    })
  })
})
