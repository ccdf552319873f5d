import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readManifest, root } from '../repository.ts'

/** A library that docs/migrating.md migrates from, with every name that its tables must cover. */
export interface PeerNames {
  readonly library: string
  readonly version: string
  readonly names: readonly string[]
}

function peer(library: string, names: (read: (path: string) => string) => readonly string[]): PeerNames {
  const folder = join(root, 'node_modules', library)
  const read = (path: string): string =>
    readFileSync(join(folder, path), 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '')
  return { library, version: readManifest(folder).version, names: [...new Set(names(read))].sort() }
}

/** Names of the members in the braces that follow `head`, without nested members. */
export function membersOf(declarations: string, head: RegExp): string[] {
  const start = declarations.search(head)
  if (start < 0) throw new Error(`no ${head} in the declarations`)
  const names: string[] = []
  let depth = 0
  // text in nested braces or brackets does not declare a member
  for (const [token, name] of declarations
    .slice(declarations.indexOf('{', start))
    .matchAll(/[{([]|[})\]]|(?<=[\s;{])(?:readonly |get )?(\w+)\??(?=\s*[:(])/g)) {
    if (/[{([]/.test(token)) depth++
    else if (/[})\]]/.test(token)) depth--
    else if (depth === 1 && name !== undefined) names.push(name)
    if (depth === 0) break
  }
  return names
}

function matches(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([, name]) => name)
}

const expressRateLimit = peer('express-rate-limit', (read) => {
  const types = read('dist/index.d.ts')
  return ['type Options =', 'type RateLimitInfo =', 'type RateLimitRequestHandler =']
    .flatMap((head) => membersOf(types, new RegExp(head)))
    .concat(matches(types, /export declare (?:const|function|class) ([a-z]\w+|MemoryStore)/g))
})

const expressSlowDown = peer('express-slow-down', (read) => {
  const types = read('dist/index.d.ts')
  // its options are the options of express-rate-limit and a few more
  const inherited = membersOf(read('../express-rate-limit/dist/index.d.ts'), /type Options =/)
  return ['type OverriddenOptions =', 'type SlowDownOptions =', 'type SlowDownInfo =']
    .flatMap((head) => membersOf(types, new RegExp(head)))
    .concat(inherited)
})

const koaRatelimit = peer('koa-ratelimit', (read) => {
  // it has no type declarations: these are the options that its source reads
  const source = read('index.js')
  return [
    ...matches(source, /\bopts\.(\w+)/g),
    ...membersOf(source, /const defaultOpts =/),
    ...matches(source, /(\w+) = 'X-RateLimit-/g),
    ...matches(read('limiter/memory.js'), /constructor\(\{([^}]+)\}/g).flatMap((list) =>
      matches(list, /(\w+)(?: = [^,]+)?/g),
    ),
  ]
})

const fastifyRateLimit = peer('@fastify/rate-limit', (read) => {
  const types = read('types/index.d.ts')
  const options = ['CreateRateLimitOptions', 'RateLimitOptions extends', 'RateLimitPluginOptions extends']
  const decorators = types.slice(0, types.indexOf('interface FastifyContextConfig'))
  return options
    .flatMap((head) => membersOf(types, new RegExp(`interface ${head}`)))
    .concat(matches(decorators, /^ {4}(\w+)[(<]/gm), matches(types, /export function (\w+)/g))
})

const nestjsThrottler = peer('@nestjs/throttler', (read) => {
  const options = read('dist/throttler-module-options.interface.d.ts')
  const decorators = read('dist/throttler.decorator.d.ts')
  return [
    ...membersOf(options, /interface ThrottlerOptions /),
    ...membersOf(options, /type ThrottlerModuleOptions/),
    ...membersOf(options, /interface ThrottlerAsyncOptions/),
    ...membersOf(decorators, /interface ThrottlerMethodOrControllerOptions/),
    ...matches(decorators, /export declare const (\w+)/g),
    // methods that a custom guard overrides
    ...matches(read('dist/throttler.guard.d.ts'), /protected (\w+)\(/g),
    ...matches(read('dist/throttler.module.d.ts'), /^\s+static (\w+)/gm),
  ]
})

const rateLimiterFlexible = peer('rate-limiter-flexible', (read) => {
  const types = read('types.d.ts')
  const options = matches(types, /interface (I\w+Opt(?:ion)?s\w*)/g)
  return [
    ...options.flatMap((name) => membersOf(types, new RegExp(`interface ${name}\\b`))),
    ...membersOf(types, /class RateLimiterAbstract /),
    ...membersOf(types, /interface IRateLimiterRes /),
    ...matches(types, /export class (\w+)/g),
  ].filter((name) => name !== 'constructor' && !name.endsWith('Abstract'))
})

const honoRateLimiter = peer('hono-rate-limiter', (read) => {
  const types = read('dist/index.d.ts')
  const options = ['HonoConfigType', 'CommonConfigType', 'KeyGeneratorType', 'CloudflareConfigType', 'RateLimitInfo']
  return options
    .flatMap((name) => membersOf(types, new RegExp(`type ${name}\\b`)))
    .concat(matches(types, /declare (?:function|class) (\w+)/g))
})

const upstashRatelimit = peer('@upstash/ratelimit', (read) => {
  const types = read('dist/index.d.ts')
  // `ctx` is a parameter of its subclasses
  const own = ['constructor', ...matches(types, /(?:private|protected) (?:readonly )?(\w+)/g)]
  return [
    ...['RatelimitConfig<', 'RatelimitResponse =', 'LimitOptions ='].flatMap((head) =>
      membersOf(types, new RegExp(`type ${head}`)),
    ),
    ...membersOf(types, /type RegionRatelimitConfig =/),
    ...matches(types, /^ {4}static (\w+)\(/gm),
    ...membersOf(types, /declare abstract class Ratelimit</).filter((name) => !own.includes(name)),
    'MultiRegionRatelimit',
    'IpDenyList',
  ].filter((name) => name !== 'ctx')
})

/** Libraries in the order of the page. */
export const peerNames: readonly PeerNames[] = [
  expressRateLimit,
  expressSlowDown,
  koaRatelimit,
  fastifyRateLimit,
  nestjsThrottler,
  rateLimiterFlexible,
  honoRateLimiter,
  upstashRatelimit,
]
