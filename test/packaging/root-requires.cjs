// The README promises that these can be tried in a Node started at the root; run by root-resolution.test.ts.
const loaded = {
  '@sluice/express': require('@sluice/express'),
  express: require('express'),
  express4: require('express4'),
  fastify: require('fastify'),
  koa: require('koa'),
}

console.log(JSON.stringify(Object.keys(loaded)))
