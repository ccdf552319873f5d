/** JSON Schema (draft 2020-12), or a part of an OpenAPI document. */
export type OpenApiPart = Readonly<Record<string, unknown>>

const VALUE: OpenApiPart = {
  type: 'integer',
  minimum: Number.MIN_SAFE_INTEGER,
  maximum: Number.MAX_SAFE_INTEGER,
}
const ID: OpenApiPart = { type: 'string', minLength: 1, maxLength: 256, description: '1 to 256 bytes of UTF-8.' }
const DURABLE: OpenApiPart = { const: true, description: 'The increment survives a crash of any part.' }
const STATUS: OpenApiPart = {
  enum: ['ok', 'duplicate'],
  description: 'duplicate: the Idempotency-Key had already counted the same increment; nothing was counted now.',
}
const DOWN: OpenApiPart = {
  type: 'array',
  items: { type: 'string' },
  description: 'Nodes that do not reply. Their unflushed increments are missing from this response.',
}

/** Schemas of the request and response bodies. */
export const counterSchemas: Readonly<Record<string, OpenApiPart>> = {
  Value: VALUE,
  Id: ID,
  Increment: closed(
    { delta: { ...VALUE, default: 1 }, durable: { type: 'boolean', default: false } },
    { required: [], description: 'durable: respond only when the increment is durable.' },
  ),
  Batch: closed(
    {
      deltas: {
        oneOf: [
          { type: 'object', additionalProperties: ref('Value') },
          { type: 'array', items: pairOf(ref('Id'), ref('Value')) },
        ],
        description: 'Deltas by id, or pairs of id and delta; several deltas of one id add up. At most 10,000 ids.',
      },
      durable: { type: 'boolean', default: false },
    },
    { required: ['deltas'] },
  ),
  Receipt: closed({ value: ref('Value'), status: STATUS, durable: DURABLE }, { required: ['value', 'status'] }),
  BatchReceipt: closed(
    { values: { type: 'object', additionalProperties: ref('Value') }, status: STATUS, durable: DURABLE },
    { required: ['values', 'status'] },
  ),
  Reading: closed({
    id: ref('Id'),
    value: ref('Value'),
    version: {
      type: 'integer',
      minimum: 0,
      description: 'Increases with each write of the value; 0 before the first one.',
    },
    updatedAt: {
      type: ['number', 'null'],
      description: 'Time of the last write in epoch ms; null before the first one.',
    },
  }),
  ReadingList: closed(
    {
      counters: { type: 'array', items: ref('Reading') },
      next: {
        type: ['string', 'null'],
        description: '`after` of the next page, which may be empty; null if there are no more counters.',
      },
      down: DOWN,
    },
    { required: ['counters', 'next'] },
  ),
  Aggregate: closed(
    { prefix: { type: 'string' }, sum: { type: 'number' }, down: DOWN },
    { required: ['prefix', 'sum'] },
  ),
  Health: closed({ status: { const: 'ok' } }),
  Problem: {
    type: 'object',
    properties: {
      type: { type: 'string' },
      title: { type: 'string' },
      status: { type: 'integer', minimum: 400, maximum: 599 },
      code: { type: 'string', pattern: '^(SLUICE_[A-Z_]+|[a-z][a-z-]*)$' },
      detail: { type: 'string' },
      'violated-policies': { type: 'array', items: { type: 'string' } },
    },
    required: ['type', 'title', 'status', 'code'],
    additionalProperties: false,
  },
}

export function ref(name: string): OpenApiPart {
  return { $ref: `#/components/schemas/${name}` }
}

function pairOf(first: OpenApiPart, second: OpenApiPart): OpenApiPart {
  return { type: 'array', prefixItems: [first, second], items: false, minItems: 2 }
}

/**
 * Returns the schema of an object with these properties only. All of them are required unless `more` has `required`.
 */
function closed(properties: Readonly<Record<string, OpenApiPart>>, more: OpenApiPart = {}): OpenApiPart {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false, ...more }
}
