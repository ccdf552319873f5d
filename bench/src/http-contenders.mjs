// Express apps that differ in their limit only. Every limit comes as a 200 and, spent, as a denial.

const windowMs = 60_000

export const httpContenders = [
  { name: 'express, bare', denial: false, mount: () => {} },
  ...bothWays('hand-written Map, 2 draft headers', 'floor', (app, limit) => app.use(mapFloor(limit))),
  ...bothWays('@sluice/express rateLimit', 'sluice', async (app, limit) => {
    const { rateLimit } = await import('@sluice/express')
    app.use(rateLimit({ limit, window: windowMs }))
  }),
  ...bothWays('@sluice/express inflightLimit + rateLimit', 'sluice', async (app, limit) => {
    const { inflightLimit, rateLimit } = await import('@sluice/express')
    app.use(inflightLimit({ limit: 10_000 }))
    app.use(rateLimit({ limit, window: windowMs }))
  }),
  ...bothWays('express-rate-limit (default headers)', 'peer', async (app, limit) => {
    const { rateLimit } = await import('express-rate-limit')
    app.use(rateLimit({ limit, windowMs }))
  }),
  ...bothWays('express-rate-limit (draft-8)', 'peer', async (app, limit) => {
    const { rateLimit } = await import('express-rate-limit')
    app.use(rateLimit({ limit, windowMs, standardHeaders: 'draft-8', legacyHeaders: false }))
  }),
]

export const bare = httpContenders[0].name

function bothWays(name, role, mount) {
  return [
    { name, role, denial: false, mount: (app) => mount(app, 1e9) },
    { name: `${name}, denied`, of: name, role, denial: true, mount: (app) => mount(app, 1) },
  ]
}

function mapFloor(limit) {
  const entries = new Map()
  const policy = `"default";q=${limit};w=${windowMs / 1_000}`
  return (req, res, next) => {
    const now = Date.now()
    let entry = entries.get(req.ip)
    if (entry === undefined || now >= entry.endsAt) {
      entry = { used: 0, endsAt: now + windowMs }
      entries.set(req.ip, entry)
    }
    entry.used++
    const seconds = Math.ceil((entry.endsAt - now) / 1_000)
    res.setHeader('RateLimit-Policy', policy)
    res.setHeader('RateLimit', `"default";r=${Math.max(0, limit - entry.used)};t=${seconds}`)
    if (entry.used <= limit) return next()
    res.statusCode = 429
    res.setHeader('Retry-After', seconds)
    res.end('Too many requests')
  }
}
