const { createLimiter, createInflightLimiter } = require('@sluice/limiter-core')
const { parsePolicies } = require('@sluice/policies')
const { HyperLogLog } = require('@sluice/sketches')

test('a limit counts', () => {
  const limiter = createLimiter({ limit: 1, window: '1m' })
  expect([limiter.take('key').allowed, limiter.take('key').allowed]).toEqual([true, false])
})

test('a cap holds permits', () => {
  const cap = createInflightLimiter({ limit: 1 })
  cap.acquire().release()
  expect(cap.count()).toBe(0)
})

test('a condition is parsed', () => {
  const text = 'version: 1\npolicies: [{ name: a, limit: 1, per: 1m, when: "request.method == \'GET\'" }]'
  expect(parsePolicies(text, 'policies.yaml').policies).toHaveLength(1)
})

test('a sketch counts', () => {
  const sketch = new HyperLogLog()
  sketch.add('key')
  expect(sketch.count()).toBe(1)
})
