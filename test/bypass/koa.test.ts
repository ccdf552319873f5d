import Koa from 'koa'
import { Koa2 } from '../adapters/koa/koa2.ts'
import { koaLogin } from './login-apps.ts'
import { runBypasses } from './run-bypasses.ts'

runBypasses({ 'Koa 2': (login) => koaLogin(Koa2, login), 'Koa 3': (login) => koaLogin(Koa, login) })
