import { createHash } from 'node:crypto'
import type { Script } from '@sluice/limiter-core/backend'

const shas = new WeakMap<Script, string>()

/** Returns the name of a script in the script cache of a server. */
export function shaOf(script: Script): string {
  let sha = shas.get(script)
  if (sha === undefined) {
    sha = createHash('sha1').update(script.text).digest('hex')
    shas.set(script, sha)
  }
  return sha
}

/** Whether a server refused `EVALSHA` because it does not know the script. Nothing was executed. */
export function isNoScript(error: unknown): boolean {
  return error instanceof Error && /^NOSCRIPT\b/.test(error.message)
}
