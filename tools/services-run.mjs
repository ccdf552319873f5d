import { runTypeScript } from './typescript-program.mjs'

/** Has the servers that tests start installed where they are missing. Counts as the other steps do. */
export async function prepareServices(limitMs) {
  const { code, output } = await runTypeScript('services/redis-binary.ts', 'prepareRedis()', { limitMs })
  return code === 0 ? { passed: 1, failed: 0, notes: [] } : { passed: 0, failed: 1, notes: [output] }
}
