import { All, Controller, Req, Res, type Type } from '@nestjs/common'
import { InflightLimit, RateLimit, Shed, SkipLimits, SlowDown, SluiceModule } from '@sluice/nest'
import {
  type Handler,
  type LayeredDescription,
  type LayeredRoute,
  type LayerSpec,
  nativeLayer,
  type RunningApp,
} from '@sluice/testkit'
import { bridge, dressed, nestApp, type Platform } from './nest-app.ts'

/** The contract's application of layers: module, class, method. */
export function layeredApp(platform: Platform, { app, routes, group }: LayeredDescription): Promise<RunningApp> {
  const controllers = [controllerOf('Routes', routes)]
  if (group) controllers.push(decorated(controllerOf('Group', group.routes), group.layer))
  return nestApp(platform, { imports: [SluiceModule.forRoot(nativeLayer(app, bridge))], controllers })
}

function decoratorsOf(layer: LayerSpec = {}): ((target: object, name?: string, of?: PropertyDescriptor) => void)[] {
  const { shed, rateLimit, slowDown, inflightLimit, skipLimits } = nativeLayer<LayerSpec, never, never>(layer, bridge)
  return [
    ...(shed === undefined ? [] : [Shed(shed)]),
    ...(rateLimit === undefined ? [] : [RateLimit(rateLimit)]),
    ...(slowDown === undefined ? [] : [SlowDown(slowDown)]),
    ...(inflightLimit === undefined ? [] : [InflightLimit(inflightLimit)]),
    ...(skipLimits === undefined ? [] : [skipLimits === true ? SkipLimits() : SkipLimits(...skipLimits)]),
  ] as ((target: object, name?: string, of?: PropertyDescriptor) => void)[]
}

function decorated(controller: Type, layer: LayerSpec): Type {
  for (const decorator of decoratorsOf(layer)) decorator(controller)
  return controller
}

const ok: Handler = () => ({ body: 'ok' })

function controllerOf(className: string, routes: readonly LayeredRoute[]): Type {
  const controller: Type = { [className]: class {} }[className]
  const { prototype } = controller
  routes.forEach(({ path, layer, handler = ok }, index) => {
    const name = `route${index}`
    prototype[name] = {
      [name]: async (req: never, res: never) =>
        dressed(res, await handler({ request: bridge.request(req), sluice: (req as { sluice?: never }).sluice })),
    }[name]
    Req()(prototype, name, 0)
    Res({ passthrough: true })(prototype, name, 1)
    const descriptor = Object.getOwnPropertyDescriptor(prototype, name) as PropertyDescriptor
    for (const decorator of decoratorsOf(layer)) decorator(prototype, name, descriptor)
    All(path)(prototype, name, descriptor)
  })
  Controller()(controller)
  return controller
}
