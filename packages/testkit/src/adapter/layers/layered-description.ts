import type { MaybePromise } from '@sluice/limiter-core'
import type {
  CapOptions,
  Handler,
  RateOptions,
  RunningApp,
  ShedderOptions,
  SlowOptions,
} from '../stage/app-description.ts'
import { type HookBridge, nativeOptions } from '../stage/native-options.ts'

/** The limits of one layer of an application. */
export interface LayerSpec {
  readonly shed?: ShedderOptions | false
  readonly rateLimit?: RateOptions | false
  readonly slowDown?: SlowOptions | false
  readonly inflightLimit?: CapOptions | false
  readonly skipLimits?: readonly string[] | true
}

/** A route for every method at its path. */
export interface LayeredRoute {
  readonly path: string
  readonly layer?: LayerSpec
  readonly handler?: Handler
}

/** An application whose routes are known before requests arrive, as in Fastify and Nest. */
export interface LayeredDescription {
  readonly app: LayerSpec
  readonly routes: readonly LayeredRoute[]
  /** A part with its own layer: a child plugin or a class. */
  readonly group?: { readonly layer: LayerSpec; readonly routes: readonly LayeredRoute[] }
}

/** Rejects, or throws, where an option is bad: at the latest before the application listens. */
export type MakeLayeredApp = (description: LayeredDescription) => MaybePromise<RunningApp>

/** A layer with every hook turned into one of the framework's own request and response. */
export function nativeLayer<Native, Req, Res>(layer: LayerSpec, bridge: HookBridge<Req, Res>): Native {
  const native = Object.entries(layer).map(([name, value]) => [
    name,
    typeof value === 'object' && !Array.isArray(value) ? nativeOptions(value, bridge) : value,
  ])
  return Object.fromEntries(native) as Native
}
