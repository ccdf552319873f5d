import { execFileSync } from 'node:child_process'
import { installPackage, installsPackages } from './debian-package.ts'
import { locatedBinary } from './located-binary.ts'

const NAME = 'redis-server'
const MISSING = `${NAME} is not there: put it on PATH, name it in REDIS_SERVER, or run the tests on Debian as root`

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
  if (located() === undefined && installsPackages()) installPackage(NAME)
  const version = execFileSync(redisBinary(), ['--version'], { encoding: 'utf8' })
  if (!/ v=7\./.test(version)) throw new Error(`Redis 7 is needed, ${redisBinary()} is ${version.trim()}`)
}

function located(): string | undefined {
  return locatedBinary(NAME, [process.env.REDIS_SERVER ?? ''])
}
