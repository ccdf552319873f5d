/** The package of this name, which has no types of its own. */
declare module 'method-override' {
  import type { RequestHandler } from 'express'

  export default function methodOverride(): RequestHandler
}
