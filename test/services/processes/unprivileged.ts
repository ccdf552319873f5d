import { readFileSync } from 'node:fs'

export interface User {
  readonly uid?: number
  readonly gid?: number
}

/** The first user is created by the Debian package, the second exists everywhere. */
const NAMES = ['postgres', 'nobody']

/** User for a program that refuses to run as root: another user if this process is root, otherwise the current user. */
export function unprivileged(): User {
  if (process.getuid?.() !== 0) return {}
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n')
  const found = NAMES.flatMap((name) => lines.filter((line) => line.startsWith(`${name}:`)))[0]
  if (found === undefined)
    throw new Error(`PostgreSQL does not run as root, and there is no user ${NAMES.join(' or ')}`)
  const [, , uid, gid] = found.split(':')
  return { uid: Number(uid), gid: Number(gid) }
}
