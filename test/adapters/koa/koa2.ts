import { createRequire } from 'node:module'
import type Koa from 'koa'

/** Koa 2 under its alias, which has no types of its own; the types of Koa 3 fit what the tests use. */
export const Koa2: typeof Koa = createRequire(import.meta.url)('koa2')
