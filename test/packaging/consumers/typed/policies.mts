import type { AddressInfo } from 'node:net'
import { rateLimit } from '@sluice/express'
import { type LoadedPolicies, policies } from '@sluice/policies'
import express, { type Request, type Response } from 'express'

const loaded = policies<Request, Response>('one-per-minute.yaml', {
  watch: true,
  attributes: { customer: (req) => req.get('x-customer'), cost: (_req, res) => Number(res?.locals.cost) },
})
export const reloaded: LoadedPolicies<Request, Response> = loaded.policies

const app = express()
app.use(rateLimit(loaded))
app.get('/', (_req, res) => {
  void loaded.policies.reload().then(() => res.send('hello'))
})

const server = app.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port))
process.stdin.resume().once('end', () => server.close())
