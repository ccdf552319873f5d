import { execFileSync } from 'node:child_process'
import { existsSync, rmSync, writeFileSync } from 'node:fs'

/** What packages ask before they start a service. */
const POLICY = '/usr/sbin/policy-rc.d'

/** True where this process may install packages of Debian. */
export function installsPackages(): boolean {
  return existsSync('/usr/bin/apt-get') && process.getuid?.() === 0
}

/** Installs that package, without what it recommends, and starts no service. */
export function installPackage(name: string): void {
  withoutServices(() => {
    // the lists of packages may be old, or not there at all
    apt('update', '-qq')
    apt('install', '-y', '-qq', '--no-install-recommends', name)
  })
}

function apt(...args: string[]): void {
  execFileSync('apt-get', args, { stdio: 'pipe', env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } })
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
