import { join } from 'node:path'
import { run } from './packaging/command.ts'
import { root } from './repository.ts'

/** Runs the TypeScript compiler on a project. Returns its errors, or an empty string. `flags` are more arguments. */
export async function compile(tsconfig: string, flags: readonly string[] = []): Promise<string> {
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  // each thread would check the types of the libraries again
  const args = [tsc, '-p', tsconfig, '--singleThreaded', ...flags]
  const { code, output } = await run(process.execPath, args, root)
  return code === 0 ? '' : output || `the compiler ended with ${code}`
}
