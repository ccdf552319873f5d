import type { Redis } from 'ioredis'

/** Fields whose values differ on each run, with a description of the value. */
const VARYING: Readonly<Record<string, string>> = {
  epoch: '20 characters of base64url',
  closedEpoch: '20 characters of base64url',
  run: 'run_id of Redis',
  since: 'epoch ms',
  closedSince: 'epoch ms',
  heldUntil: 'epoch ms, 0 for nobody',
  updatedAt: "epoch ms, '' for none",
}

/** Returns the keys of these counters in Redis, with the fields of hashes. */
export async function redisShape(client: Redis, name: string): Promise<Record<string, unknown>> {
  const keys = (await client.keys(`*{counters:${name}:*`)).sort()
  const shapes = new Map<string, unknown>()
  for (const key of keys) shapes.set(key.replace(/call:.*/, 'call:…'), await shapeOf(client, key))
  return Object.fromEntries(shapes)
}

async function shapeOf(client: Redis, key: string): Promise<unknown> {
  const expires = (await client.pttl(key)) > 0
  if ((await client.type(key)) !== 'hash') return { expires, value: await client.get(key) }
  const fields = Object.entries(await client.hgetall(key)).sort(([one], [other]) => (one < other ? -1 : 1))
  return { expires, fields: Object.fromEntries(fields.map(([field, value]) => [field, VARYING[field] ?? value])) }
}
