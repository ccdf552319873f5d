import { describe, test } from '@jest/globals'
import { bypassContract, type LimitedApp } from '@sluice/testkit'
import express from 'express'
import { fastify } from 'fastify'
import Koa from 'koa'
import { express4 } from '../adapters/express/express4.ts'
import { fastify4 } from '../adapters/fastify/fastify4.ts'
import { Koa2 } from '../adapters/koa/koa2.ts'
import {
  expressLogin,
  fastifyLogin,
  fetchLogin,
  honoLogin,
  koaLogin,
  type Login,
  mountedExpressLogin,
  nodeLogin,
} from './login-apps.ts'
import { countings } from './login-limit.ts'

const lenient = { caseSensitive: false, ignoreTrailingSlash: true, ignoreDuplicateSlashes: true, useSemicolonDelimiter: true }

const apps: Readonly<Record<string, (login: Login) => Promise<LimitedApp>>> = {
  'Express 4': (login) => expressLogin(express4, [], login),
  'Express 5': (login) => expressLogin(express, [], login),
  'Express 5, strict': (login) => expressLogin(express, ['case sensitive routing', 'strict routing'], login),
  'Koa 2': (login) => koaLogin(Koa2, login),
  'Koa 3': (login) => koaLogin(Koa, login),
  'Fastify 4': (login) => fastifyLogin(fastify4, {}, login),
  'Fastify 5': (login) => fastifyLogin(fastify, {}, login),
  'Fastify 4, lenient': (login) => fastifyLogin(fastify4, lenient, login),
  'Fastify 5, lenient': (login) => fastifyLogin(fastify, lenient, login),
  'Fastify 5, with a hook': (login) => fastifyLogin(fastify, lenient, login, true),
  'Hono': (login) => honoLogin(true, login),
  'Hono, not strict': (login) => honoLogin(false, login),
}

const frameworks = Object.entries(apps)
for (const method of ['GET', 'POST'] as const) {
  for (const counting of countings) {
    describe.each(frameworks)(`%s counts by ${counting} of ${method}`, (_name, start) => {
      bypassContract({ describe, test }, () => start({ counting, method, path: '/login' }), { method })
    })
  }
}
describe.each(['client', 'policy of the method'] as const)('by %s', (counting) => {
  for (const method of ['GET', 'POST'] as const) {
    const login = { counting, method, path: '/login' }
    describe(`node:http, ${method}`, () => bypassContract({ describe, test }, () => nodeLogin(login), { method }))
    describe(`HTTP/2, ${method}`, () => bypassContract({ describe, test }, () => nodeLogin(login, true), { method, http2: true }))
    describe(`fetch, ${method}`, () => bypassContract({ describe, test }, () => fetchLogin(login), { method }))
    describe(`Express 4 mounted ${method}`, () => bypassContract({ describe, test }, () => mountedExpressLogin(express4, login), { method }))
    describe(`Express 5 mounted ${method}`, () => bypassContract({ describe, test }, () => mountedExpressLogin(express, login), { method }))
  }
})
