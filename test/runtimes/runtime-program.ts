import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { memoryFolder } from '../services/memory-folder.ts'
import { bundle } from './bundle.ts'
import type { Outcome } from './programs/collected-tests.ts'

const TIMEOUT_MS = 120_000

/** Runs a program of the contracts in another runtime, and returns the outcome that it prints. */
export async function outcomeOf(entry: string, command: string, args: readonly string[]): Promise<Outcome> {
  const path = join(memoryFolder('sluice-runtime-'), 'program.mjs')
  const { text } = await bundle(entry)
  writeFileSync(path, text)
  const output = await new Promise<string>((resolve, reject) => {
    const options = { timeout: TIMEOUT_MS, killSignal: 'SIGKILL' } as const
    execFile(command, [...args, path], options, (error, stdout, stderr) => {
      if (error && stdout === '') reject(new Error(`${command}: ${error.message}\n${stderr}`))
      else resolve(stdout)
    })
  })
  return JSON.parse(output.trim().split('\n').at(-1) ?? '') as Outcome
}
