// Uses the ES modules and the CommonJS of the packages in one process, and prints what happened as JSON:
// node both-formats.mjs esm|cjs. The argument is the format of the outer limits.
import 'reflect-metadata'
import { createRequire } from 'node:module'
import { Controller, Get, Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import express from 'express'
import { Hono } from 'hono'

const require = createRequire(import.meta.url)
const names = [
  'express',
  'hono',
  'nest',
  'policies',
  'redis',
  'counters',
  'gossip',
  'fetch',
  'http',
  'limiter-core',
  'overload',
]
const esm = {}
const cjs = {}
for (const name of names) {
  esm[name] = await import(`@sluice/${name}`)
  cjs[name] = require(`@sluice/${name}`)
}
const isOuterModule = process.argv[2] === 'esm'
const outer = isOuterModule ? esm : cjs
const inner = isOuterModule ? cjs : esm

const warnings = []
process.on('warning', ({ code }) => warnings.push(code))

const codeOf = (run) => {
  try {
    run()
    return 'none'
  } catch (error) {
    return error.code
  }
}

const answered = async (response) => {
  await response.arrayBuffer()
  return {
    status: response.status,
    limit: response.headers.get('ratelimit'),
    policy: response.headers.get('ratelimit-policy'),
  }
}

/** Asks an Express app `requests` times, one after the other. */
async function asked(app, requests, headers = {}) {
  const server = app.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const answers = []
  for (let request = 0; request < requests; request++) {
    answers.push(await answered(await fetch(`http://127.0.0.1:${server.address().port}/`, { headers })))
  }
  server.close()
  return answers
}

async function onExpress() {
  const seen = []
  const app = express()
  app.use(outer.express.rateLimit({ name: 'a', limit: 5, window: '1m' }))
  app.use((req, _res, next) => {
    seen.push(req.sluice)
    next()
  })
  app.use(inner.express.rateLimit({ name: 'b', limit: 3, window: '1m', cost: { reserve: 1, settle: () => 2 } }))
  app.get('/', (req, res) => {
    seen.push(req.sluice)
    res.send('hello')
  })
  const answers = await asked(app, 3, { 'x-forwarded-for': '192.0.2.1' })
  return { answers, seen: { decisions: seen[1].decisions.length, isOne: seen[0] === seen[1] } }
}

async function onCaps() {
  const app = express()
  let release
  app.use(outer.express.inflightLimit({ name: 'cap', limit: 1, key: () => 'all' }))
  app.use(inner.express.rateLimit({ name: 'behind', limit: 9, window: '1m' }))
  app.get('/slow', (_req, res) => {
    release = () => res.send('slow')
  })
  app.get('/', (_req, res) => res.send('hello'))
  const server = app.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const url = `http://127.0.0.1:${server.address().port}/`
  const slow = fetch(`${url}slow`)
  while (!release) await new Promise((resolve) => setImmediate(resolve))
  const second = (await answered(await fetch(url))).status
  release()
  const first = (await answered(await slow)).status
  const third = (await answered(await fetch(url))).status
  server.close()
  return [first, second, third]
}

async function onHono() {
  const app = new Hono()
  app.use(outer.hono.rateLimit({ name: 'a', limit: 2, window: '1m' }))
  app.use(inner.hono.rateLimit({ name: 'b', limit: 1, window: '1m' }))
  app.get('/', (c) => c.text('hello'))
  const ask = async () => answered(await app.request('/', {}, { ip: '203.0.113.7' }))
  return [await ask(), await ask()]
}

async function onNest() {
  class HomeController {
    declared() {
      return 'hello'
    }
    guarded() {
      return 'hello'
    }
  }
  const { prototype } = HomeController
  const own = (name) => Object.getOwnPropertyDescriptor(prototype, name)
  for (const name of ['declared', 'guarded']) Get(name)(prototype, name, own(name))
  inner.nest.RateLimit({ limit: 1, window: '1m' })(prototype, 'declared', own('declared'))
  Reflect.defineMetadata('__guards__', [inner.nest.rateLimit({ name: 'g', limit: 1, window: '1m' })], prototype.guarded)
  Controller()(HomeController)
  class AppModule {}
  const imports = [
    outer.nest.SluiceModule.forRoot({ inflightLimit: { limit: 9 } }),
    inner.nest.SluiceModule.forRoot({}),
  ]
  Module({ imports, controllers: [HomeController] })(AppModule)
  const app = await NestFactory.create(AppModule, { logger: ['error'] })
  await app.listen(0, '127.0.0.1')
  const url = `http://127.0.0.1:${app.getHttpServer().address().port}`
  const answers = []
  for (const path of ['declared', 'declared', 'guarded', 'guarded']) {
    answers.push(await answered(await fetch(`${url}/${path}`)))
  }
  await app.close()
  return answers
}

async function onPolicies() {
  const file = new URL('../consumers/one-per-minute.yaml', import.meta.url).pathname
  const app = express()
  app.use(outer.express.rateLimit(inner.policies.policies(file)))
  app.get('/', (_req, res) => res.send('hello'))
  return asked(app, 2)
}

async function counted() {
  const backend = outer.express.memoryBackend()
  const limiter = inner.express.createLimiter({ name: 'shared', limit: 2, window: '1m', backend })
  const other = outer.express.createLimiter({ name: 'shared', limit: 2, window: '1m', backend, shared: true })
  await limiter.take('key')
  return (await other.peek('key')).verdicts[0].remaining
}

function codes() {
  const backend = outer.express.memoryBackend()
  const duplicate = codeOf(() => {
    outer.express.rateLimit({ name: 'x', limit: 5, window: '1m', backend })
    inner.express.rateLimit({ name: 'x', limit: 6, window: '1m', backend })
  })
  const node = outer.gossip.createGossip({ peers: [], secret: 'a secret of at least 32 characters, or more' })
  const made = codeOf(() => inner.gossip.gossipBackend(node).close?.())
  void node.close()
  const nonsense = codeOf(() => inner.gossip.gossipBackend({}))
  const otherClass = codeOf(() => new outer.counters.DigestCounter().merge(new inner.counters.UniqueCounter()))
  return { duplicate, node: made, nonsense, otherClass }
}

function merged() {
  const seed = 'a seed of sixteen bytes, and more'
  const each = (make, add) => {
    const [one, other] = [make(outer.counters), make(inner.counters)]
    add(one, 0)
    add(other, 1)
    one.merge(other)
    return one
  }
  const now = 1_000_000
  const uniques = each(
    ({ UniqueCounter }) => new UniqueCounter({ seed }),
    (one, n) => one.add(`key ${n}`, now),
  )
  const digest = each(
    ({ DigestCounter }) => new DigestCounter(),
    (one, n) => one.add(n * 10, now),
  )
  const leaderboard = each(
    ({ Leaderboard }) => new Leaderboard(),
    (one, n) => one.increment('member', 3 + n),
  )
  const windowed = each(
    ({ WindowedCounter }) => new WindowedCounter(),
    (one, n) => one.increment(4 + n, now),
  )
  return {
    uniques: Math.round(uniques.day(now)),
    digest: digest.day(0.5, now),
    leaderboard: leaderboard.score('member'),
    windowed: windowed.sum(now),
  }
}

function areTwo(module, required) {
  return Object.entries(module).some(([name, value]) => typeof value === 'function' && value !== required[name])
}

const { answers, seen } = await onExpress()
const report = {
  areTwo: Object.fromEntries(names.map((name) => [name, areTwo(esm[name], cjs[name])])),
  express: answers,
  seen,
  caps: await onCaps(),
  hono: await onHono(),
  nest: await onNest(),
  policies: await onPolicies(),
  shared: await counted(),
  codes: codes(),
  counters: merged(),
  warnings,
}
console.log(JSON.stringify(report))
