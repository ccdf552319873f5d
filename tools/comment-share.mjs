import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Prints the share of comment lines in the source of each package; the target is 8 to 20 %. */
export function commentShares(root) {
  const packages = join(root, 'packages')
  return readdirSync(packages).map((name) => {
    const { comments, lines } = countFolder(join(packages, name, 'src'))
    const percent = lines === 0 ? 0 : (100 * comments) / lines
    return `${name.padEnd(16)} ${percent.toFixed(0).padStart(3)} % of ${lines} lines`
  })
}

function countFolder(folder) {
  const total = { comments: 0, lines: 0 }
  for (const path of readdirSync(folder, { recursive: true })) {
    if (!/\.(ts|lua)$/.test(path) || path.endsWith('generated.ts')) continue
    const { comments, lines } = countFile(readFileSync(join(folder, path), 'utf8'))
    total.comments += comments
    total.lines += lines
  }
  return total
}

function countFile(text) {
  let inBlock = false
  let comments = 0
  const lines = text.split('\n').map((line) => line.trim())
  for (const line of lines) {
    if (line.startsWith('/*')) inBlock = true
    if (inBlock || line.startsWith('//') || line.startsWith('--')) comments++
    if (line.endsWith('*/')) inBlock = false
  }
  return { comments, lines: lines.filter((line) => line !== '').length }
}
