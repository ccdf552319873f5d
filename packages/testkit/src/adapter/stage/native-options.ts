import type { HookRequest, HookResponse } from './app-description.ts'

/** Converts a framework's request and response for the hooks of the contract. */
export interface HookBridge<Req, Res> {
  request(req: Req): HookRequest
  response(res: Res): HookResponse
}

type Hook = (...args: unknown[]) => unknown

const OF_REQUEST = [
  'key',
  'cost',
  'reserve',
  'skip',
  'plan',
  'weight',
  'message',
  'limit',
  'window',
  'priority',
  'fairBy',
]
const OF_BOTH = ['settle', 'denied']
const NESTED = ['cost', 'policies', 'plans']

/** The contract's options with every hook turned into one of the framework's own request and response. */
export function nativeOptions<Native = never, Req = unknown, Res = unknown>(
  options: object,
  bridge: HookBridge<Req, Res>,
): Native {
  const native = Object.entries(options).map(([name, value]) => [name, nativeOption(name, value, bridge)])
  return Object.fromEntries(native) as Native
}

function nativeOption<Req, Res>(name: string, value: unknown, bridge: HookBridge<Req, Res>): unknown {
  if (typeof value === 'function') return nativeHook(name, value as Hook, bridge)
  if (!NESTED.includes(name) || typeof value !== 'object' || value === null) return value
  if (name === 'plans') return nativePlans(value as Readonly<Record<string, readonly object[]>>, bridge)
  return Array.isArray(value) ? value.map((one) => nativeOptions(one, bridge)) : nativeOptions(value, bridge)
}

function nativePlans<Req, Res>(plans: Readonly<Record<string, readonly object[]>>, bridge: HookBridge<Req, Res>) {
  const native = Object.entries(plans).map(([name, policies]) => [
    name,
    policies.map((one) => nativeOptions(one, bridge)),
  ])
  return Object.fromEntries(native)
}

function nativeHook<Req, Res>(name: string, hook: Hook, bridge: HookBridge<Req, Res>): Hook {
  // built-in key sources read the view, which follows the request
  if (OF_REQUEST.includes(name)) return (req, ...rest) => hook(bridge.request(req as Req), ...rest)
  if (!OF_BOTH.includes(name)) return hook
  return (req, res, ...rest) => hook(bridge.request(req as Req), bridge.response(res as Res), ...rest)
}
