import { runChild } from '../run/child.mjs'
import { targetColumns, targetRow } from '../run/target.mjs'

const cell = new URL('./sketch-limits-cell.mjs', import.meta.url)
const MIB = 2 ** 20
const flags = ['--expose-gc']

/** Flooded backends: sketches with both widths and both counting methods, and the memory backend of the same size. */
function scenes(smoke) {
  const limits = smoke ? [10] : [10, 100, 1_000]
  const sizes = smoke ? [1] : [1, 4, 16]
  const made = []
  for (const limit of limits) {
    for (const mib of sizes) {
      for (const conservative of [false, true]) {
        // cells of 8 bits hold limits up to 254
        for (const cells of limit < 255 ? [8, 16] : [16])
          made.push({ backend: 'sketch', mib, limit, cells, conservative })
      }
      // its evictions do not depend on the limit
      if (limit === limits[limits.length >> 1])
        made.push({ backend: 'memory', mib, limit, cells: 0, conservative: false })
    }
  }
  return made
}

const titleOf = ({ backend, cells, conservative }) =>
  backend === 'memory' ? 'memory' : `sketch, ${cells} bits, ${conservative ? 'conservative' : 'linear'}`

export async function run({ smoke = false, only = '', progress = () => {} } = {}) {
  const keys = smoke ? 6_400 : 10_000_000
  const chosen = scenes(smoke).filter((scene) => titleOf(scene).includes(only))
  const results = []
  for (const scene of chosen) {
    progress(`floods: ${titleOf(scene)}, ${scene.mib} MiB, limit ${scene.limit}`)
    const figures = await runChild(cell, { ...scene, bytes: scene.mib * MIB, keys, seed: 7 }, flags)
    results.push({ ...scene, ...figures, title: titleOf(scene) })
  }
  return [floodTable(results), targetTable(results)]
}

function floodTable(results) {
  return {
    title: 'Flood: 10M random IPv6 keys in one window',
    columns: [
      'limit',
      'MiB',
      'backend',
      'honest clients ever denied %',
      'their takes denied %',
      'attackers readmitted',
      'alarm after M keys',
      'flood denied %',
      'CPU ns/decision',
      'worst 64 ms',
    ],
    rows: results.map((one) => [
      String(one.limit),
      String(one.mib),
      one.title,
      one.wrongedPercent,
      one.deniedPercent,
      one.readmitted,
      one.alarmAt === 0 ? '–' : (one.alarmAt / 1e6).toFixed(2),
      one.floodDeniedPercent,
      one.nsPerKey,
      one.stallMs,
    ]),
    notes: [
      'The default policy, sliding-window of an hour, clock handed in; a sketch of two half windows. 1,000 honest clients take half of their limit, the first unit at the start of the window, the last one at its end. 100 attackers are denied before the flood and send a request at each visit.',
      'CPU of a decision: without creating its key. Worst 64: the longest 64 decisions in a row, wall time.',
    ],
  }
}

function targetTable(results) {
  const sketches = results.filter(({ backend }) => backend === 'sketch')
  const rows = sketches.map((one) =>
    targetRow(`${one.title}, ${one.mib} MiB, limit ${one.limit}: attackers readmitted`, one.readmitted, 0),
  )
  return { title: 'Flood targets', columns: targetColumns, rows, notes: [] }
}
