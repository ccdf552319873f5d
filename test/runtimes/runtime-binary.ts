import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../repository.ts'

/**
 * Paths of the executables, of which npm installs those for its platform. The installation script of Bun, which npm may
 * not run, moves the executable into the package `bun`.
 */
const PATHS = {
  bun: [
    ...['@oven/bun-linux-x64/bin/bun', '@oven/bun-linux-aarch64/bin/bun', '@oven/bun-darwin-aarch64/bin/bun'],
    'bun/bin/bun.exe',
  ],
  deno: ['@deno/linux-x64-glibc/deno', '@deno/linux-arm64-glibc/deno', '@deno/darwin-arm64/deno'],
  workerd: [
    '@cloudflare/workerd-linux-64/bin/workerd',
    '@cloudflare/workerd-linux-arm64/bin/workerd',
    '@cloudflare/workerd-darwin-arm64/bin/workerd',
  ],
} as const

/** Returns the path of the executable of a runtime. Installation scripts need not have run. */
export function runtimeBinary(runtime: keyof typeof PATHS): string {
  for (const path of PATHS[runtime]) {
    const binary = join(root, 'node_modules', path)
    if (existsSync(binary)) return binary
  }
  throw new Error(`${runtime} is not installed for this platform: npm ci`)
}
