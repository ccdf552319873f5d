import { execFileSync } from 'node:child_process'
import { existsSync, rmSync, writeFileSync } from 'node:fs'

/** The script that packages run before they start a service. */
const POLICY = '/usr/sbin/policy-rc.d'

/** Whether this process may install Debian packages. */
export function installsPackages(): boolean {
  return existsSync('/usr/bin/apt-get') && process.getuid?.() === 0
}

/** Installs a package without its recommended packages, and starts no service. */
export function installPackage(name: string): void {
  withoutServices(() => {
    // package lists may be old or missing
    apt('update', '-qq')
    apt('install', '-y', '-qq', '--no-install-recommends', name)
  })
}

function apt(...args: string[]): void {
  execFileSync('apt-get', args, { stdio: 'pipe', env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } })
}

/** Runs `install` without starting services. Tests must not leave a server on the well-known port of the machine. */
function withoutServices(run: () => void): void {
  const ours = !existsSync(POLICY)
  if (ours) writeFileSync(POLICY, '#!/bin/sh\nexit 101\n', { mode: 0o755 })
  try {
    run()
  } finally {
    if (ours) rmSync(POLICY, { force: true })
  }
}
