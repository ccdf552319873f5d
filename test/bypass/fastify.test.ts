import { fastify } from 'fastify'
import { fastify4 } from '../adapters/fastify/fastify4.ts'
import { fastifyLogin, prefixedFastifyLogin } from './login-apps.ts'
import { runBypasses } from './run-bypasses.ts'

const lenient = {
  caseSensitive: false,
  ignoreTrailingSlash: true,
  ignoreDuplicateSlashes: true,
  useSemicolonDelimiter: true,
}

runBypasses({
  'Fastify 4': (login) => fastifyLogin(fastify4, {}, login),
  'Fastify 4, lenient': (login) => fastifyLogin(fastify4, lenient, login),
  'Fastify 4, a prefix': (login) => prefixedFastifyLogin(fastify4, login),
  'Fastify 5, a prefix': (login) => prefixedFastifyLogin(fastify, login),
  'Fastify 5': (login) => fastifyLogin(fastify, {}, login),
  'Fastify 5, lenient': (login) => fastifyLogin(fastify, lenient, login),
  'Fastify 5, lenient, with a hook': (login) => fastifyLogin(fastify, lenient, login, true),
})
