import { execFileSync } from 'node:child_process'
import { accessSync, constants, existsSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'

const NAME = 'redis-server'
const MISSING = `${NAME} is not there: put it on PATH, name it in REDIS_SERVER, or run the tests on Debian as root`
/** What packages ask before they start a service. */
const POLICY = '/usr/sbin/policy-rc.d'

/** The redis-server that tests start: the one on PATH, else what REDIS_SERVER names. Throws one clear line. */
export function redisBinary(): string {
  const found = located()
  if (found === undefined) throw new Error(MISSING)
  return found
}

/**
 * Installs Debian's package where there is no redis-server, and starts no service. A step before the tests does it once,
 * so that no two test files race for apt.
 */
export function prepareRedis(): void {
  if (located() === undefined && existsSync('/usr/bin/apt-get') && process.getuid?.() === 0) withoutServices(install)
  const version = execFileSync(redisBinary(), ['--version'], { encoding: 'utf8' })
  if (!/ v=7\./.test(version)) throw new Error(`Redis 7 is needed, ${redisBinary()} is ${version.trim()}`)
}

function located(): string | undefined {
  const onPath = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, NAME))
  return [...onPath, process.env.REDIS_SERVER ?? ''].find((path) => path !== '' && isExecutable(path))
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

function install(): void {
  // the lists of packages may be old, or not there at all
  const apt = (...args: string[]) =>
    execFileSync('apt-get', args, { stdio: 'pipe', env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } })
  apt('update', '-qq')
  apt('install', '-y', '-qq', '--no-install-recommends', NAME)
}

/** A server of the machine's own on the well-known port is nothing that tests may leave behind. */
function withoutServices(run: () => void): void {
  const ours = !existsSync(POLICY)
  if (ours) writeFileSync(POLICY, '#!/bin/sh\nexit 101\n', { mode: 0o755 })
  try {
    run()
  } finally {
    if (ours) rmSync(POLICY, { force: true })
  }
}
