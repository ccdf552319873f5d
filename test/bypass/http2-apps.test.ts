import { describe, expect, test } from '@jest/globals'
import { bypassContract, type TestRunner } from '@sluice/testkit'
import { fastify } from 'fastify'
import Koa from 'koa'
import { fastify4 } from '../adapters/fastify/fastify4.ts'
import { Koa2 } from '../adapters/koa/koa2.ts'
import { fastifyOnHttp2, honoOnHttp2, koaOnHttp2 } from './http2-apps.ts'

/** Registers what only HTTP/2 permits: the routers are those of HTTP/1. */
const registered: string[] = []
const streams: TestRunner = {
  describe,
  test: (name, body, ...others) => {
    if (!name.includes('streams')) return
    registered.push(name)
    test(name, body, ...others)
  },
}

describe.each([
  ['Fastify 4', () => fastifyOnHttp2(fastify4)],
  ['Fastify 5', () => fastifyOnHttp2(fastify)],
  ['Koa 2', () => koaOnHttp2(Koa2)],
  ['Koa 3', () => koaOnHttp2(Koa)],
  ['Hono', honoOnHttp2],
] as const)('%s on HTTP/2', (_name, start) => {
  bypassContract(streams, start, { http2: true })
})

test('two tests of the suite are about streams', () => {
  expect(registered).toHaveLength(10)
})
