import { runTypeScript } from '../build/typescript-program.mjs'

const SERVICES = [
  ['services/redis/redis-binary.ts', 'prepareRedis()'],
  ['services/postgres/postgres-binary.ts', 'preparePostgres()'],
  ['services/chromium-binary.ts', 'prepareChromium()'],
  ['services/mysql/mysql-binary.ts', 'prepareMysql()'],
  ['services/memcached/memcached-binary.ts', 'prepareMemcached()'],
]

/** Installs missing servers and the browser that tests start. Returns counts like the other steps. */
export async function prepareServices(limitMs) {
  const counts = { passed: 0, failed: 0, notes: [] }
  // one after the other, because two would compete for the apt lock
  for (const [path, call] of SERVICES) {
    const { code, output } = await runTypeScript(path, call, { limitMs })
    if (code === 0) {
      counts.passed++
    } else {
      counts.failed++
      counts.notes.push(output)
    }
  }
  return counts
}
