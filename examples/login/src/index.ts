// A login form that is protected, and attacks on it: npm start
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { parseArgs } from 'node:util'
import { playAttacks } from './attack.ts'
import { createSite } from './site.ts'
import { Users } from './users.ts'

const { values: options } = parseArgs({ options: { attack: { type: 'boolean', default: false } } })
if (options.attack) await playAttacks()
else await serve()

async function serve(): Promise<void> {
  const users = new Users()
  await users.setPassword('ada@example.org', 'sesame')
  const server = createSite(users).listen(Number(process.env.PORT || 3000), '127.0.0.1')
  await once(server, 'listening')
  console.log(`The login is listening on http://localhost:${(server.address() as AddressInfo).port}/login`)
  console.log('Log in as ada@example.org with the password sesame, or guess: npm start -- --attack plays attacks')
  const end = (): void => {
    server.close()
    server.closeAllConnections()
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, end)
}
