import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runChild } from '../child.mjs'
import { root } from '../root-command.mjs'

const minute = 60_000
const ARCHIVE = 'http://deb.debian.org/debian'
const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg'

/** Servers that Debian has as packages, with the release that has this major version. */
const SERVERS = {
  'redis@8': { suite: 'trixie', program: 'redis-server' },
  'valkey@8': { suite: 'trixie', program: 'valkey-server' },
  'valkey@9': { suite: 'sid', program: 'valkey-server' },
}

/** Names of the servers that can be installed beside the one of this machine. */
export const serverNames = Object.keys(SERVERS)

/**
 * Unpacks a server with all libraries it needs, including its C library, below .artifacts/ if it is missing, and
 * returns the folder of a `redis-server` that runs it. Nothing is installed on the machine. Needs Debian's `apt-get`.
 */
export async function serverFolder(name) {
  const { suite, program } = SERVERS[name]
  const folder = join(root, '.artifacts', name)
  const bin = join(folder, 'bin')
  if (existsSync(join(bin, 'redis-server'))) return bin
  console.log(`unpacking ${program} of Debian ${suite} into ${folder}`)
  rmSync(folder, { recursive: true, force: true })
  const files = join(folder, 'files')
  await download(folder, suite, program)
  await unpack(join(folder, 'var/cache/apt/archives'), files)
  mkdirSync(bin, { recursive: true })
  const loader = join(files, 'usr/lib64/ld-linux-x86-64.so.2')
  const libraries = join(files, 'usr/lib/x86_64-linux-gnu')
  const script = `#!/bin/sh\nexec ${loader} --library-path ${libraries} ${join(files, 'usr/bin', program)} "$@"\n`
  writeFileSync(join(bin, 'redis-server'), script, { mode: 0o755 })
  return bin
}

/** apt with a root of its own, where nothing is installed yet: it finds all dependencies and checks signatures. */
async function download(folder, suite, program) {
  for (const path of ['etc/apt', 'var/lib/apt/lists/partial', 'var/cache/apt/archives/partial', 'var/lib/dpkg']) {
    mkdirSync(join(folder, path), { recursive: true })
  }
  const status = join(folder, 'var/lib/dpkg/status')
  writeFileSync(status, '')
  writeFileSync(join(folder, 'etc/apt/sources.list'), `deb [signed-by=${KEYRING}] ${ARCHIVE} ${suite} main\n`)
  const apart = ['-q', '-o', `Dir=${folder}`, '-o', `Dir::State::status=${status}`, '-o', 'APT::Sandbox::User=root']
  await run('apt-get', [...apart, 'update'])
  await run('apt-get', [...apart, 'install', '-y', '--no-install-recommends', '--download-only', program])
}

async function unpack(archives, files) {
  mkdirSync(files, { recursive: true })
  for (const name of readdirSync(archives).filter((file) => file.endsWith('.deb'))) {
    await run('dpkg-deb', ['-x', join(archives, name), files])
  }
}

async function run(command, args) {
  const { code, output } = await runChild(command, args, { limitMs: 5 * minute })
  if (code !== 0) throw new Error(`${command} failed:\n${output}`)
}
