import * as ofExpress from '@sluice/express'
import * as ofNode from '@sluice/node-http'
import express, { type RequestHandler } from 'express'
import { fastify } from 'fastify'
import Koa from 'koa'
import { express4 } from '../../adapters/express/express4.ts'
import { fastify4 } from '../../adapters/fastify/fastify4.ts'
import { Koa2 } from '../../adapters/koa/koa2.ts'
import { fastifyWith } from './fastify-framework.ts'
import type { Framework } from './framework.ts'
import { koaWith } from './koa-framework.ts'

function expressWith(make: typeof express): Framework {
  return {
    inflightLimit: ofExpress.inflightLimit as unknown as Framework['inflightLimit'],
    rateLimit: ofExpress.rateLimit as unknown as Framework['rateLimit'],
    slowDown: ofExpress.slowDown as unknown as Framework['slowDown'],
    listener: (...steps) => {
      const app = make()
      for (const step of steps) app.use(step as unknown as RequestHandler)
      return app
    },
  }
}

const plain: Framework = {
  inflightLimit: ofNode.inflightLimit,
  rateLimit: ofNode.rateLimit,
  slowDown: ofNode.slowDown,
  listener:
    (...steps) =>
    (req, res) => {
      const run = (index: number): unknown =>
        steps[index]?.(req, res, (error) => {
          if (error !== undefined) throw error
          return run(index + 1)
        })
      run(0)
    },
}

export const frameworks: Readonly<Record<string, Framework>> = {
  'node:http': plain,
  'Express 5': expressWith(express),
  'Express 4': expressWith(express4),
  'Koa 3': koaWith(Koa),
  'Koa 2': koaWith(Koa2),
  'Fastify 5': fastifyWith(fastify),
  'Fastify 4': fastifyWith(fastify4),
}
