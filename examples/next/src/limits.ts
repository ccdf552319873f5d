import { byHeader, createSluice } from '@sluice/fetch'

/** Limits of all routes. In a module of its own, because Next.js may load the module of a route more than once. */
export const { rateLimit, inflightLimit } = createSluice()

/** The address of the client. Vercel sets the header, and removes it from requests; elsewhere your proxy must do so. */
export const byClient = byHeader('x-real-ip')
