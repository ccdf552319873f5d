/**
 * Runs steps one after the other, even if an earlier one failed, and returns
 * `{ passed, failed, failures }`, with one line per failure. A step is `{ name, run }`, and `run` returns
 * `{ passed, failed, notes, failures }`; a step that fails without a list of failures is listed itself.
 */
export async function runSteps(steps) {
  let passed = 0
  let failed = 0
  const failures = []
  for (const { name, run } of steps) {
    console.log(`\n== ${name}`)
    const startedAt = performance.now()
    const result = await run()
    for (const note of result.notes) console.log(note)
    passed += result.passed
    failed += result.failed
    const named = result.failures ?? []
    if (result.failed > 0) failures.push(...(named.length > 0 ? named.map((failure) => `${name}: ${failure}`) : [name]))
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
    console.log(`${result.failed === 0 ? 'ok' : 'FAILED'}: ${name}, ${seconds} s`)
  }
  return { passed, failed, failures }
}

/** Prints the failures and, on the last line, the counts of `runSteps`, and sets the exit code of the process. */
export function reportOutcome({ passed, failed, failures }) {
  if (failures.length > 0) console.log(`\n== failed\n${failures.join('\n')}`)
  console.log(`\n${passed} passed, ${failed} failed`)
  process.exitCode = failed === 0 ? 0 : 1
}

/** Combines several steps into one that runs them in parallel, for steps without live output. */
export function together(steps) {
  return {
    name: steps.map(({ name }) => name).join(', '),
    run: async () => {
      const results = await Promise.all(steps.map(({ run }) => run()))
      const failures = results.flatMap(({ failed, failures }, index) =>
        failed === 0 ? [] : (failures ?? [steps[index].name]),
      )
      return {
        passed: results.reduce((sum, { passed }) => sum + passed, 0),
        failed: results.reduce((sum, { failed }) => sum + failed, 0),
        notes: results.flatMap(({ notes }) => notes),
        failures,
      }
    },
  }
}
