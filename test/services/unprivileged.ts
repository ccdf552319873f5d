import { readFileSync } from 'node:fs'

export interface User {
  readonly uid?: number
  readonly gid?: number
}

/** Debian's package makes the first; the second is everywhere. */
const NAMES = ['postgres', 'nobody']

/** Whom a program runs as that refuses to be root: somebody else where this process is root, else who it is. */
export function unprivileged(): User {
  if (process.getuid?.() !== 0) return {}
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n')
  const found = NAMES.flatMap((name) => lines.filter((line) => line.startsWith(`${name}:`)))[0]
  if (found === undefined)
    throw new Error(`PostgreSQL does not run as root, and there is no user ${NAMES.join(' or ')}`)
  const [, , uid, gid] = found.split(':')
  return { uid: Number(uid), gid: Number(gid) }
}
