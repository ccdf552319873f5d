import { randomBytes, randomUUID } from 'node:crypto'
import { emailKey } from '@sluice/express'
import { type LoginAttempt, type ProofOptions, proofPage, protectLogin } from '@sluice/http/login'
import express, { type CookieOptions, type Express, type Request, type Response } from 'express'
import { loginPage, welcomePage } from './pages.ts'
import type { Users } from './users.ts'

const DEVICE_MS = 90 * 86_400_000
const accountOf = emailKey({ plusTags: 'keep', dots: 'keep' })

/** Returns a site whose login is protected. */
export function createSite(users: Users, challenge: ProofOptions = {}): Express {
  // with several processes: the same secret in all of them, and a backend
  const logins = protectLogin({ secret: randomBytes(32).toString('base64'), challenge })
  const sessions = new Map<string, string>()
  const app = express()
  app.disable('x-powered-by')
  // the attack of this example claims its addresses; a real site trusts its own proxies only
  app.set('trust proxy', 'loopback')
  app.use(express.urlencoded({ extended: false, limit: '1kb' }))

  app.get('/', (_req, res) => res.redirect('/login'))
  app.get('/login', async (req, res) => {
    // a device that has logged in before is not challenged
    const task = cookieOf(req, 'device') === undefined ? await logins.taskFor(req.ip) : undefined
    res.send(loginPage(secure(res), task))
  })

  app.post('/login', async (req, res) => {
    const { email, password, proof } = fieldsOf(req)
    const account = accountOf(email)
    const version = users.versionOf(account)
    const attempt = await logins.attempt({ account, address: req.ip, device: cookieOf(req, 'device'), proof, version })
    if (attempt.outcome !== 'allow') return refuse(res, attempt, { email, password })
    if (!(await users.isPassword(account, password))) {
      const task = await logins.taskFor(req.ip)
      return void res.status(401).send(loginPage(secure(res), task, 'Wrong e-mail or password'))
    }
    const device = await attempt.succeeded()
    const session = randomUUID()
    sessions.set(session, String(account))
    const cookie: CookieOptions = { httpOnly: true, secure: req.secure, sameSite: 'lax' }
    res.cookie('session', session, cookie)
    res.cookie('device', device, { ...cookie, maxAge: DEVICE_MS })
    secure(res)
    res.send(welcomePage(attempt.known))
  })

  app.post('/password', async (req, res) => {
    const account = sessions.get(cookieOf(req, 'session') ?? '')
    if (account === undefined) return void res.sendStatus(401)
    // ends the device cookies of the account, because its version changes
    await users.setPassword(account, fieldsOf(req).password)
    sessions.delete(cookieOf(req, 'session') ?? '')
    res.redirect(303, '/login')
  })
  return app
}

/** Responds to an attempt whose password must not be checked. */
function refuse(
  res: Response,
  attempt: Exclude<LoginAttempt, { outcome: 'allow' }>,
  fields: Record<string, string>,
): void {
  const nonce = secure(res)
  if (attempt.outcome === 'challenge' && attempt.challenge) {
    return void res.status(403).send(proofPage({ challenge: attempt.challenge, action: '/login', fields, nonce }))
  }
  res
    .set('retry-after', `${Math.ceil(attempt.retryAfterMs / 1_000)}`)
    .status(429)
    .send('Try again later.\n')
}

/** Sets the headers of pages with secrets. Returns the nonce of their script. */
function secure(res: Response): string {
  const nonce = randomBytes(16).toString('base64')
  res.set('cache-control', 'no-store')
  res.set('content-security-policy', `default-src 'none'; form-action 'self'; script-src 'nonce-${nonce}'`)
  return nonce
}

/** Returns the fields of the form; a field that is missing or repeated is empty. */
function fieldsOf(req: Request): { readonly email: string; readonly password: string; readonly proof: string } {
  const fields: Readonly<Record<string, unknown>> = req.body ?? {}
  const text = (name: string): string => (typeof fields[name] === 'string' ? fields[name] : '')
  return { email: text('email'), password: text('password'), proof: text('proof') }
}

function cookieOf(req: Request, name: string): string | undefined {
  const [, value] = new RegExp(`(?:^|; )${name}=([^;]*)`).exec(req.headers.cookie ?? '') ?? []
  return value
}
