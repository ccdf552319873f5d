import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { mustRun, run } from './command.ts'
import type { Tarball } from './tarballs.ts'

/**
 * Publishes the contents of tarballs with one dry run of npm, which takes a second to start. Works in a new folder below
 * `folder`, without network access.
 */
export async function dryPublish(tarballs: readonly Tarball[], folder: string): ReturnType<typeof run> {
  const place = mkdtempSync(join(folder, 'publish-'))
  writeFileSync(join(place, 'package.json'), '{ "private": true, "workspaces": ["packages/*"] }\n')
  for (const { name, path } of tarballs) {
    const home = join(place, 'packages', name.replace('/', '-'))
    mkdirSync(home, { recursive: true })
    await mustRun('tar', ['-xzf', path, '-C', home, '--strip-components=1'], place)
  }
  const args = ['publish', '--workspaces', '--dry-run', '--offline', '--cache', join(folder, 'cache')]
  return run('npm', args, place)
}
