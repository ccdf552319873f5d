// Summarizes all results in ten lines. A line with a missing figure is omitted.

/** `results`: the last stored result of each benchmark. */
export function summary(results) {
  const figure = (bench, title, row, column, digits = 3) => {
    const table = results[bench]?.tables.find((one) => one.title.startsWith(title))
    const value = table?.rows.find(([name]) => name === row)?.[table.columns.indexOf(column)]
    if (typeof value !== 'number') throw new MissingFigure()
    return Math.abs(value) >= 1_000 ? Math.round(value).toLocaleString('en') : `${Number(value.toPrecision(digits))}`
  }
  const decision = (row, column) => figure('decisions', 'CPU ns per decision', row, column)
  const cost = (column) => figure('decisions', 'Decisions of a process', own, column)
  const bytes = (row) => figure('memory', 'Memory at 1M', row, 'heap + external B/key')
  const flood = (row, column) => figure('memory', 'Attack', row, column)
  const added = (framework, row) => figure('http', framework, row, 'added µs')
  const redis = (target) => figure('redis', 'Redis targets', bestPeer(results.redis, target), 'measured')
  const lease = (column) => figure('leases', 'One key', 'leased', column)
  const own = 'sluice sliding-window, clock handed in'
  const peer = 'express-rate-limit MemoryStore'
  const lines = [
    () =>
      `A decision in memory takes ${decision(own, 'hot key, ns')} ns of CPU for a hot key and ${decision(own, '1M keys, ns')} ns among a million keys; in express-rate-limit's store ${decision(peer, 'hot key, ns')} and ${decision(peer, '1M keys, ns')}, in rate-limiter-flexible ${decision('rate-limiter-flexible Memory', 'hot key, ns')} and ${decision('rate-limiter-flexible Memory', '1M keys, ns')}.`,
    () =>
      `10,000 decisions a second take at most ${cost('% of a core')} % of a core; 999 of 1,000 decisions of a hot key take at most ${cost('p99.9 µs, hot')} µs, and each leaves ${cost('garbage B, hot')} bytes of garbage.`,
    () => `A live key takes ${bytes(own)} bytes; in express-rate-limit's store ${bytes(peer)}.`,
    () =>
      `Under an attack of five million keys in one window memory grows by ${flood(own, 'peak RSS growth MiB')} MiB and no more, ${flood(own, 'attackers readmitted %')} % of the attackers are let in again, and the longest stall is ${flood(own, 'worst stall ms')} ms; express-rate-limit's store grows by ${flood(peer, 'peak RSS growth MiB')} MiB and stalls for ${flood(peer, 'worst stall ms')} ms.`,
    () =>
      `\`rateLimit\` adds ${added('Express', '@sluice/express rateLimit')} µs to a request on Express (express-rate-limit: ${added('Express', 'express-rate-limit (draft-8)')}), ${added('Koa', '@sluice/koa rateLimit')} on Koa (koa-ratelimit: ${added('Koa', 'koa-ratelimit')}), ${added('Fastify', '@sluice/fastify rateLimit')} on Fastify (@fastify/rate-limit: ${added('Fastify', '@fastify/rate-limit')}).`,
    () =>
      `On Redis 64 callers at once get ${redis('sluice exact, fixed-window, 64 at a time: decisions/s')} of the decisions a second of the best peer, at ${redis('sluice exact, fixed-window, 64 at a time: client + server CPU')} of its CPU; one caller at a time gets ${redis('sluice exact, fixed-window, 1 at a time: decisions/s')}.`,
    () =>
      `Leased, a decision of a hot key takes ${lease('p50 µs')} µs in the median and ${lease('p99 µs')} µs at the 99th percentile.`,
    () =>
      `Synced, a decision takes ${figure('synced', 'A decision', 'hot key', '×')} of one in memory, and a million of them ${figure('synced', 'What decisions cost', 'synced', 'calls a million')} calls of Redis; leased ${figure('synced', 'What decisions cost', 'leased', 'calls a million')}.`,
    () =>
      `A usage counter that is kept in PostgreSQL is counted in ${figure('counters', 'Increments', '`redisCounters`, before PostgreSQL', 'p50 ms')} ms through Redis (p99 ${figure('counters', 'Increments', '`redisCounters`, before PostgreSQL', 'p99 ms')}) and ${figure('counters', 'Increments', '`createCounters`, before PostgreSQL', 'p50 ms')} ms in the process, at 5,000 a second; an upsert each takes ${figure('counters', 'Increments', 'PostgreSQL alone: an upsert each', 'p50 ms')} (p99 ${figure('counters', 'Increments', 'PostgreSQL alone: an upsert each', 'p99 ms')}).`,
    () =>
      `Targets met: ${targetCounts(results)}. The reasons for missed targets are [at the end](#missed-targets-and-reasons).`,
  ]
  return lines
    .flatMap((line) => whole(line))
    .map((line) => `- ${line}`)
    .join('\n')
}

class MissingFigure extends Error {}

function whole(line) {
  try {
    return [line()]
  } catch (error) {
    if (error instanceof MissingFigure) return []
    throw error
  }
}

/** Finds the target row, whose name contains the peer it was compared with, the best one of the run. */
function bestPeer(result, target) {
  return targetRows(result)?.find(([name]) => name.startsWith(`${target}, ×`))?.[0]
}

function targetRows(result) {
  return result?.tables.find(({ title }) => title.endsWith('targets'))?.rows
}

function targetCounts(results) {
  const counts = Object.entries(results).flatMap(([bench, result]) => {
    const rows = targetRows(result)
    return rows ? [`${bench} ${rows.filter((row) => row.at(-1) === 'hit').length} of ${rows.length}`] : []
  })
  return counts.join(', ')
}
