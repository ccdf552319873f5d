import { expect, test } from '@jest/globals'
import { runProgram } from '../leaks/program.ts'

type Outcomes = Readonly<Record<string, Readonly<Record<string, string>>>>

test('an error that a handler throws or rejects with is handled the same with and without a limiter', async () => {
  const outcomes = (await runProgram('handler-errors')) as Outcomes
  const alone = Object.entries(outcomes).map(([handler, { nothing }]) => `${handler}: ${nothing}`)
  expect(alone).toEqual([
    'a bare server, a handler that throws: uncaughtException',
    'a bare server, a handler that rejects: unhandledRejection',
    'node:http, a handler that throws: uncaughtException',
    'node:http, a handler that rejects: unhandledRejection',
    'Express 5, a handler that throws: 500',
    'Express 5, a handler that rejects: 500',
    'Express 4, a handler that throws: 500',
    'Express 4, a handler that rejects: unhandledRejection',
    'Koa 3, a handler that throws: 500',
    'Koa 3, a handler that rejects: 500',
    'Koa 2, a handler that throws: 500',
    'Koa 2, a handler that rejects: 500',
    'Fastify 5, a handler that throws: 500',
    'Fastify 5, a handler that rejects: 500',
    'Fastify 4, a handler that throws: 500',
    'Fastify 4, a handler that rejects: 500',
  ])
  for (const behind of Object.values(outcomes)) {
    const same = Object.keys(behind).map((what) => [what, behind.nothing])
    expect(behind).toEqual(Object.fromEntries(same))
  }
})
