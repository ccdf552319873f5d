// A reporter of node:test for tools/tests/nest-run.mjs: tells failures as they come, and the counts in the last line.

module.exports = async function* report(source) {
  const counts = { passed: 0, failed: 0 }
  for await (const { type, data } of source) {
    if (type === 'test:stderr' || type === 'test:stdout') yield data.message
    if (type !== 'test:pass' && type !== 'test:fail') continue
    const error = data.details.error
    // a suite fails with its tests, which are counted, or by itself
    if (data.details.type === 'suite' && (type === 'test:pass' || error.failureType === 'subtestsFailed')) continue
    // a test that is not run is not a pass
    const switchedOff = data.skip !== undefined || data.todo !== undefined
    if (type === 'test:pass' && !switchedOff) counts.passed++
    else {
      counts.failed++
      yield `✖ ${data.name}${switchedOff ? ': switched off' : `\n${error?.cause?.stack ?? error?.message}`}\n`
    }
  }
  yield `${JSON.stringify(counts)}\n`
}
