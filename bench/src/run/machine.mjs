import { readFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'

const measured = [
  '@sluice/limiter-core',
  '@sluice/express',
  '@sluice/koa',
  '@sluice/fastify',
  '@sluice/nest',
  '@sluice/hono',
  '@sluice/redis',
  '@sluice/sketches',
  '@sluice/insight',
  '@sluice/overload',
  'express',
  'koa',
  'fastify',
  'hono',
  '@hono/node-server',
  '@nestjs/core',
  'express-rate-limit',
  'rate-limiter-flexible',
  '@fastify/rate-limit',
  '@nestjs/throttler',
  'koa-ratelimit',
  'hono-rate-limiter',
  'rate-limit-redis',
  'ioredis',
  'lru-cache',
  'bloom-filters',
  'hyperloglog-lite',
  'tdigest',
  '@datadog/sketches-js',
  '@fastify/under-pressure',
  'overload-protection',
  'toobusy-js',
]

export function describeMachine() {
  const [{ model }] = cpus()
  const gib = Math.round(totalmem() / 2 ** 30)
  return `${model.trim()}, ${cpus().length} cores, ${gib} GiB, Node ${process.version} (V8 ${process.versions.v8}), ${process.platform}`
}

export function describeVersions() {
  return measured.map((name) => `${name} ${versionOf(name)}`).join(', ')
}

// read as a file because most packages do not export their package.json
function versionOf(name) {
  const path = new URL(`../../../node_modules/${name}/package.json`, import.meta.url)
  return JSON.parse(readFileSync(path, 'utf8')).version
}
