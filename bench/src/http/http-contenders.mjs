// Servers that differ only in their limit, grouped by framework. The first of each group has no limit.
import { expressContenders } from './http-express.mjs'
import { fastifyContenders } from './http-fastify.mjs'
import { honoContenders } from './http-hono.mjs'
import { koaContenders } from './http-koa.mjs'
import { nestContenders } from './http-nest.mjs'

const groups = {
  'Express 5': expressContenders,
  'Koa 3': koaContenders,
  'Fastify 5': fastifyContenders,
  'Hono 4': honoContenders,
  'Nest 12 on Express 5': nestContenders,
}

export const httpContenders = Object.entries(groups).flatMap(([group, contenders]) =>
  contenders.map((contender) => ({ ...contender, group, bare: contenders[0].name })),
)

/** Contenders whose name contains `only`, and the ones they are compared with. */
export function chooseHttpContenders(only = '') {
  const named = httpContenders.filter(({ name }) => name.includes(only))
  const wanted = new Set(named.flatMap(({ name, bare, of }) => [name, bare, of]))
  return httpContenders.filter(({ name }) => wanted.has(name))
}
