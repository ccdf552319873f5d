import type { ServerResponse } from 'node:http'
import {
  All,
  type CanActivate,
  Controller,
  type INestApplication,
  type NestInterceptor,
  Req,
  Res,
  type Type,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common'
import {
  InflightLimit,
  inflightLimit,
  RateLimit,
  rateLimit,
  Shed,
  SlowDown,
  SluiceModule,
  shed,
  slowDown,
} from '@sluice/nest'
import {
  type AppDescription,
  type LimiterSpec,
  nativeOptions,
  onceEach,
  type Route,
  type RunningApp,
} from '@sluice/testkit'
import { bridge, dressed, nestApp, type Platform } from './nest-app.ts'

const makers = { rate: rateLimit, cap: inflightLimit, slow: slowDown, shed }
const decorators = { rate: RateLimit, cap: InflightLimit, slow: SlowDown, shed: Shed }
const words = { rate: 'rateLimit', cap: 'inflightLimit', slow: 'slowDown', shed: 'shed' } as const

type Enhancer = CanActivate & NestInterceptor

/** The contract's application: the module has the first limit of each kind, separate guards have further ones. */
export function contractApp(platform: Platform, description: AppDescription): Promise<RunningApp> {
  const { headers = {}, limits, routes, builtPerRequest } = description
  const build = ({ kind, options }: LimiterSpec): Enhancer =>
    makers[kind](nativeOptions(options, bridge)) as unknown as Enhancer
  const enhancer = builtPerRequest ? (spec: LimiterSpec) => perRequest(spec, build) : onceEach(build)
  const everywhere = [...limits, ...routes.flatMap((route) => route.limits ?? [])]
  const ofModule = limits.filter(
    (spec) =>
      !builtPerRequest &&
      limits.find(({ kind }) => kind === spec.kind) === spec &&
      everywhere.filter((one) => one === spec).length === 1,
  )
  const options = ofModule.map(({ kind, options: given }) => [words[kind], nativeOptions(given, bridge)])
  const decorate = (spec: LimiterSpec): MethodDecorator => {
    const isShared = builtPerRequest || everywhere.filter((one) => one === spec).length > 1
    if (!isShared) return decorators[spec.kind](nativeOptions(spec.options, bridge))
    return spec.kind === 'cap' ? UseInterceptors(enhancer(spec)) : UseGuards(enhancer(spec))
  }
  return nestApp(platform, {
    imports: [SluiceModule.forRoot(Object.fromEntries(options))],
    controllers: [controllerOf(routes, decorate)],
    prepare: (app) => {
      app.use((_req: unknown, res: ServerResponse, next: () => void) => {
        for (const [name, value] of Object.entries(headers)) res.setHeader(name, value)
        next()
      })
      bindGlobally(
        app,
        limits.filter((spec) => !ofModule.includes(spec)),
        enhancer,
      )
    },
  })
}

function bindGlobally(
  app: INestApplication,
  limits: readonly LimiterSpec[],
  of: (spec: LimiterSpec) => Enhancer,
): void {
  for (const spec of limits) {
    if (spec.kind === 'cap') app.useGlobalInterceptors(of(spec))
    else app.useGlobalGuards(of(spec))
  }
}

function perRequest(spec: LimiterSpec, build: (spec: LimiterSpec) => Enhancer): Enhancer {
  return {
    canActivate: (context) => build(spec).canActivate(context),
    intercept: (context, next) => build(spec).intercept(context, next),
  }
}

function controllerOf(routes: readonly Route[], decorate: (spec: LimiterSpec) => MethodDecorator): Type {
  class Routes {}
  const prototype = Routes.prototype as Record<string, unknown>
  routes.forEach(({ path, limits = [], handler }, index) => {
    const name = `route${index}`
    prototype[name] = {
      [name]: async (req: never, res: never) =>
        dressed(res, await handler({ request: bridge.request(req), sluice: (req as { sluice?: never }).sluice })),
    }[name]
    Req()(prototype, name, 0)
    Res({ passthrough: true })(prototype, name, 1)
    const descriptor = Object.getOwnPropertyDescriptor(prototype, name) as PropertyDescriptor
    for (const decorator of [...limits.map(decorate).reverse(), All(path)]) decorator(prototype, name, descriptor)
  })
  Controller()(Routes)
  return Routes
}
